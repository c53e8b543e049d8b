import type { Client } from '../api/client.js'
import type { SlotState } from '../api/slots.js'
import { dateAt, systemClock } from '../base/clock.js'
import { type Cron, cronOf } from '../schedule/cron.js'
import { textOf } from '../thrown.js'
import type { ShownSchedule, ShownSlot } from './page-messages.js'

/** A schedule to show: its slots are computed from the pattern, because the server knows only those that a process has claimed. */
export interface DashboardSchedule {
  /** The name that `schedule` got. */
  readonly name: string
  /** Its pattern. */
  readonly cron: string
  /** Its time zone. Default: `'UTC'`. */
  readonly timezone?: string | undefined
  /** How long the server knows what became of a slot, ms, if your programs pass one. Default: 7 days. */
  readonly retention?: number | undefined
}

/** How many slots of a schedule are shown. */
const SLOTS = 10
/** ms between two looks at the schedules. */
const EVERY = 5000
/** ms. The records of older slots may have expired. */
const REMEMBERED = 604_800_000
/** ms. A slot that no process has claimed may still be on time. */
const GRACE = 60_000
const LONGEST = 300

/** Nothing more happens to such a slot. */
const isFinal = ({ state }: ShownSlot): boolean => state === 'ran' || state === 'failed' || state === 'missed'

const claimed = (due: number, { state, by, attempt, began, ended }: SlotState): ShownSlot => ({
  due,
  // `skip` marks a slot that no process ran in time, so that none will.
  state: state === 'skipped' ? 'missed' : state,
  // That a process has marked it says nothing about that process.
  ...(state !== 'skipped' && { who: (by.label ?? by.client.slice(0, 8)).slice(0, LONGEST) }),
  ...(began !== undefined && { began }),
  ...(ended !== undefined && began !== undefined && { took: Math.max(0, ended - began) }),
  ...(attempt > 1 && { attempt }),
})

class Schedule {
  readonly #client: Client
  readonly #wanted: DashboardSchedule
  #cron: Promise<Cron> | undefined
  #final: ReadonlyMap<number, ShownSlot> = new Map()

  constructor(client: Client, wanted: DashboardSchedule) {
    this.#client = client
    this.#wanted = wanted
  }

  /** Never rejects. */
  async read(now: number): Promise<ShownSchedule> {
    const { name, cron: pattern, timezone = 'UTC', retention = REMEMBERED } = this.#wanted
    const shown = { name, cron: pattern, timezone, next: null, slots: [] }
    try {
      const cron = await (this.#cron ??= cronOf(pattern, timezone))
      const due = cron.before(now, SLOTS).filter((slot) => now - slot < retention)
      const slots = await Promise.all(due.map((slot) => this.#slot(slot, now)))
      this.#final = new Map(slots.filter(isFinal).map((slot) => [slot.due, slot]))
      return { ...shown, next: cron.next(now) ?? null, slots: [...slots].reverse() }
    } catch (error) {
      return { ...shown, trouble: textOf(error) }
    }
  }

  async #slot(due: number, now: number): Promise<ShownSlot> {
    return this.#final.get(due) ?? this.#ask(due, now)
  }

  async #ask(due: number, now: number): Promise<ShownSlot> {
    const known = await this.#client.slots(this.#wanted.name).inspect(dateAt(due))
    return known === undefined ? { due, state: now - due < GRACE ? 'due' : 'unclaimed' } : claimed(due, known)
  }
}

/** The schedules in the options of the dashboard. */
export class Schedules {
  readonly #all: readonly Schedule[]
  #askedAt = -Infinity
  #asking = false
  list: readonly ShownSchedule[] = []

  constructor(client: Client, wanted: readonly DashboardSchedule[]) {
    this.#all = wanted.map((one) => new Schedule(client, one))
  }

  /** Never rejects. What it finds counts from the next reading on. `now`: the server's time. */
  async look(now: number): Promise<void> {
    const at = systemClock.monotonic()
    if (this.#asking || this.#all.length === 0 || at - this.#askedAt < EVERY) return
    this.#asking = true
    this.#askedAt = at
    this.list = await Promise.all(this.#all.map((schedule) => schedule.read(now)))
    this.#asking = false
  }
}
