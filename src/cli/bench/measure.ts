import { setTimeout as sleep } from 'node:timers/promises'

/** What a row measured. Times are in ms; CPU times are in µs for one piece of work. */
export interface Figures {
  readonly perSecond: number
  readonly median: number
  readonly p99: number
  /** Undefined: the server does not tell. */
  readonly serverCpu: number | undefined
  readonly clientCpu: number
}

export type Work = () => Promise<unknown>

/** How much CPU time the server has used so far, µs. Undefined: it does not tell. */
export type ServerCpu = () => Promise<number | undefined>

/** The share of the time that is not counted: until then, this process compiles its code. */
const WARM = 0.2

/** The value that this share of the sorted values do not exceed. */
export const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN

/** Callers that repeat their work until they are stopped. */
class Callers {
  /** How long each piece of work took, ms. */
  times: number[] = []
  readonly ended: Promise<readonly PromiseSettledResult<void>[]>
  #stopped = false

  constructor(works: readonly Work[]) {
    this.ended = Promise.allSettled(works.map((work) => this.#repeat(work)))
  }

  async #repeat(work: Work): Promise<void> {
    try {
      while (!this.#stopped) {
        const began = performance.now()
        await work()
        this.times.push(performance.now() - began)
      }
    } finally {
      // After an error, the figures of the others say nothing.
      this.#stopped = true
    }
  }

  stop(): void {
    this.#stopped = true
  }
}

const clientCpu = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Lets all callers work for `ms`. Rejects when one of them does, after all have ended. */
export const measured = async (works: readonly Work[], ms: number, serverCpu: ServerCpu): Promise<Figures> => {
  const callers = new Callers(works)
  const figures = await watched(callers, ms, serverCpu).finally(() => callers.stop())
  for (const end of await callers.ended) if (end.status === 'rejected') throw end.reason
  return figures
}

const watched = async (callers: Callers, ms: number, serverCpu: ServerCpu): Promise<Figures> => {
  const failed = callers.ended
  await Promise.race([sleep(ms * WARM), failed])
  const server = await serverCpu()
  const [began, client] = [performance.now(), clientCpu()]
  callers.times = []
  await Promise.race([sleep(ms * (1 - WARM)), failed])
  const [took, used] = [performance.now() - began, clientCpu() - client]
  const times = callers.times.sort((a, b) => a - b)
  callers.times = []
  const serverNow = await serverCpu()
  const each = (sum: number): number => sum / times.length
  return {
    perSecond: times.length / (took / 1000),
    median: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    serverCpu: server === undefined || serverNow === undefined ? undefined : each(serverNow - server),
    clientCpu: each(used),
  }
}
