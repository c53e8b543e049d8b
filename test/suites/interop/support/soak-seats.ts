import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientOptions } from 'holdfast'
import type { WorldEvent } from 'holdfast/testing'
import { RECOVERY } from '../../soak/settings.js'
import { startNodeWork } from './contention.js'
import type { WorkOptions } from './java-lock.js'
import { now, startRedisson } from './redisson.js'
import { LEASE, NAME, SOAKED, type Soaked, WORKERS } from './soak-kinds.js'
import type { Life } from './work-history.js'

/** How long a waiter that died unseen stops those behind it, ms. */
export const ALLOWANCE = 1000

const THEIRS = { lockWatchdogTimeout: LEASE, fairLockWaitTimeout: ALLOWANCE }
const OURS: ClientOptions = { watchdog: LEASE, fairWaiterTimeout: ALLOWANCE }

const WORK = {
  workers: WORKERS,
  hold: [0, 12],
  pause: [0, 30],
  leases: [LEASE, 0],
  timeouts: 0.15,
  wait: [20, 1500],
} as const
/** An interrupted waiter of Redisson's stays in the queue, and all would wait for its allowance. */
const NODE_WORK = { ...WORK, aborts: 0.1, abortAfter: [0, 100], ours: OURS } as const

/** One process at work, until the time is over or it is killed. */
interface Running {
  readonly life: Life
  readonly pid: number
  readonly ended: Promise<unknown>
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
  kill(): Promise<void>
}

type Task = Pick<WorkOptions, 'seconds' | 'seed' | 'reads'>
type Start = (url: string, who: string, kind: Soaked, task: Task) => Promise<Running>

const startJava: Start = async (url, who, kind, task) => {
  const redisson = await startRedisson({ url, options: THEIRS })
  const life: Life = { who, side: 'java', client: redisson.id, events: [] }
  return {
    life,
    pid: redisson.pid,
    ended: redisson.lock(SOAKED[kind].java, NAME).work({ ...WORK, ...task }, (event) => life.events.push(event)),
    signal: (signal) => void process.kill(redisson.pid, signal),
    kill: () => redisson.kill(),
  }
}

const startNode: Start = (url, who, kind, task) => {
  const { child, events, ended } = startNodeWork(url, SOAKED[kind].node, NAME, { ...NODE_WORK, ...task })
  return Promise.resolve({
    life: { who, side: 'node', events },
    pid: child.pid ?? 0,
    ended,
    signal: (signal) => void child.kill(signal),
    kill: async () => {
      child.kill('SIGKILL')
      await ended.catch(() => undefined)
    },
  })
}

export interface SeatOptions {
  readonly url: string
  readonly kind: Soaked
  readonly reads: number | undefined
  readonly index: number
  readonly side: Life['side']
  readonly seed: number
  /** When the work is over: ms of the machine's monotonic clock. */
  readonly end: number
}

/** A place for a process: who dies there is followed by the next. */
export class Seat {
  readonly side: Life['side']
  readonly lives: Life[] = []
  /** What went wrong that nobody did to it. */
  readonly mishaps: string[] = []
  readonly #options: SeatOptions
  #running: Running | undefined
  #busy = false

  constructor(options: SeatOptions) {
    this.side = options.side
    this.#options = options
  }

  async begin(): Promise<void> {
    const { url, kind, reads, index, seed, end } = this.#options
    const who = `${this.side} ${index}.${this.lives.length}`
    const start = this.side === 'java' ? startJava : startNode
    const seconds = Math.max(0, (end - now()) / 1000)
    const running = await start(url, who, kind, { seconds, reads, seed: seed + 10 * this.lives.length + index })
    this.#running = running
    this.lives.push(running.life)
    running.ended.catch((error: unknown) => {
      if (running.life.diedAt === undefined) this.mishaps.push(`${who}: ${String(error)}`)
    })
  }

  /** One thing at a time happens to it. */
  async #alone(work: (running: Running) => Promise<void>): Promise<void> {
    if (this.#busy || this.#running === undefined) return
    this.#busy = true
    try {
      await work(this.#running)
    } finally {
      this.#busy = false
    }
  }

  kill(): Promise<void> {
    return this.#alone(async ({ life, kill }) => {
      life.diedAt = Infinity
      await kill()
      life.diedAt = now()
      await this.begin()
    })
  }

  stop(ms: number, world: WorldEvent[]): Promise<void> {
    return this.#alone(async ({ life: { who }, signal }) => {
      const at = now()
      signal('SIGSTOP')
      await sleep(ms)
      signal('SIGCONT')
      world.push({ at, to: now() + RECOVERY, what: 'trouble', process: who, note: `stopped for ${ms.toFixed(0)} ms` })
    })
  }

  /** When its work is over, or it has taken too long: then it is looked at first. */
  async end(limit: number, look?: (life: Life, pid: number) => Promise<void>): Promise<void> {
    while (this.#busy) await sleep(50)
    const late = sleep(limit, 'late', { ref: false })
    if ((await Promise.race([this.#running?.ended.catch(() => undefined), late])) === 'late') {
      this.mishaps.push(`${this.lives.at(-1)?.who} did not end within ${limit} ms`)
      if (this.#running !== undefined) await look?.(this.#running.life, this.#running.pid)
    }
    await this.#running?.kill()
  }
}
