import type { CallEvent, HistoryEvent, WorldEvent } from 'holdfast/testing'
import { seeded } from '../../support/random.js'

interface Visit {
  readonly call: string
  readonly process: string
  readonly shared: boolean
  readonly lease: number
  until: number
}

/** A fair lock as it should be, whose users come, wait, leave, stop and die at random; tells its history. */
class LockModel {
  readonly events: HistoryEvent[] = []
  readonly #random: () => number
  readonly #name: string
  #now = 0
  #calls = 0
  #tokens = 0
  #queue: Visit[] = []
  #holders: Visit[] = []
  /** What a dead or stopped holder left: until when nobody else may have it. */
  #leftUntil = 0
  readonly #forced: boolean

  constructor(name: string, random: () => number, forced: boolean) {
    this.#forced = forced
    this.#name = name
    this.#random = random
  }

  run(steps: number): void {
    for (let step = 0; step < steps; step++) this.#step()
    while (this.#queue.length + this.#holders.length > 0) {
      this.#pass()
      this.#grant()
      for (const visit of [...this.#holders]) this.#release(visit)
    }
  }

  #step(): void {
    this.#pass()
    this.#grant()
    const dice = this.#random()
    const holder = this.#pick(this.#holders)
    if (dice < 0.3) this.#arrive()
    else if (dice < 0.35) this.#leave()
    else if (holder === undefined) return
    else if (dice < 0.6) this.#check(holder)
    else if (dice < 0.9) this.#release(holder)
    else if (dice < 0.94) this.#die(holder)
    else if (dice < 0.97) this.#stop(holder)
    else if (this.#forced) this.#lose()
  }

  #pass(): void {
    this.#now += 0.1 + Math.floor(this.#random() * 50) / 10
    for (const visit of this.#holders) if (visit.until <= this.#now + 6) this.#check(visit)
  }

  #pick<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.#random() * list.length)]
  }

  #arrive(): void {
    const process = `p${Math.floor(this.#random() * 4)}`
    const lease = 50 + Math.floor(this.#random() * 100)
    const visit = { call: `${this.#name}-${this.#calls++}`, process, shared: this.#random() < 0.3, lease, until: 0 }
    this.#tell(visit, 'invoke', { mode: visit.shared ? 'shared' : 'exclusive', lease })
    this.#now += 0.1
    this.#tell(visit, 'queued')
    this.#queue.push(visit)
  }

  #leave(): void {
    const visit = this.#pick(this.#queue)
    if (visit === undefined) return
    this.#queue = this.#queue.filter((other) => other !== visit)
    this.#tell(visit, 'refused')
  }

  #grant(): void {
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      const together = next.shared && this.#holders.every(({ shared }) => shared)
      if ((this.#holders.length > 0 && !together) || this.#now < this.#leftUntil) return
      this.#queue.shift()
      this.#holders.push(next)
      next.until = this.#now + next.lease
      this.#tell(next, 'granted', { until: next.until, token: String(++this.#tokens) })
      this.#now += 0.1
    }
  }

  #check(visit: Visit): void {
    visit.until = this.#now + visit.lease
    this.#tell(visit, 'checked', { until: visit.until })
  }

  #release(visit: Visit): void {
    this.#tell(visit, 'releasing')
    this.#now += 0.1
    this.#tell(visit, 'released')
    this.#holders = this.#holders.filter((other) => other !== visit)
  }

  #die(visit: Visit): void {
    this.#tell(visit, 'crashed')
    this.#holders = this.#holders.filter((other) => other !== visit)
    this.#leftUntil = Math.max(this.#leftUntil, visit.until)
  }

  /** Longer than its lease: it learns on waking that the hold is lost. */
  #stop(visit: Visit): void {
    const to = visit.until + 5 + this.#random() * 50
    this.events.push({ what: 'trouble', process: visit.process, at: this.#now, to, note: 'stopped' })
    this.#holders = this.#holders.filter((other) => other !== visit)
    this.#leftUntil = Math.max(this.#leftUntil, visit.until)
    this.#tell(visit, 'checked', { until: visit.until, at: this.#now })
    this.#tell(visit, 'lost', { at: to })
  }

  /** Somebody takes the lock by force; those who had it believe in it for a little. */
  #lose(): void {
    const forced: WorldEvent = { what: 'forced', name: this.#name, at: this.#now, to: this.#now }
    this.events.push(forced)
    for (const visit of this.#holders) this.#tell(visit, 'lost', { at: this.#now + 20 * this.#random() })
    this.#holders = []
  }

  #tell(visit: Visit, what: CallEvent['what'], more: Partial<CallEvent> = {}): void {
    const { process, call } = visit
    this.events.push({ at: this.#now, what, process, call, name: this.#name, ...more })
  }
}

export interface ModelOptions {
  readonly steps?: number
  readonly locks?: number
  /** Whether locks are taken by force too. */
  readonly forced?: boolean
}

/** The history of a few locks; the same one for the same seed. In order of time. */
export const modelHistory = (seed: number, { steps = 300, locks = 3, forced = true }: ModelOptions = {}) => {
  const random = seeded(seed)
  const models = Array.from({ length: locks }, (_, index) => new LockModel(`lock${index}`, random, forced))
  for (const model of models) model.run(steps)
  return models.flatMap(({ events }) => events).sort((a, b) => a.at - b.at)
}
