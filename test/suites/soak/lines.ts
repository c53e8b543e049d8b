import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'holdfast'
import type { CallEvent, HistoryEvent } from 'holdfast/testing'
import type { Redis } from 'ioredis'
import { machineTime } from './log.js'
import { FAIR, isFair, LOCKS, TRIAL } from './settings.js'

const EVERY = 40
const LONGEST_ANSWER = 1000

const braced = (name: string): string => (name.includes('{') ? name : `{${name}}`)
export const queueOf = (name: string): string => `redisson_lock_queue:${braced(name)}`
export const deadlinesOf = (name: string): string => `redisson_lock_timeout:${braced(name)}`

/** Looks who stands in the lines of the fair locks, and since when. */
export class Lines {
  readonly #seen = new Map<string, number>()
  #watching = true

  async watch(redis: Redis): Promise<void> {
    for (; this.#watching; await sleep(EVERY)) {
      // The server may be away.
      const asked = FAIR.map((name) => redis.lrange(queueOf(name), 0, -1).catch((): string[] => []))
      // What was asked of a server that was killed may never be answered.
      const lines = await Promise.race([Promise.all(asked), sleep(LONGEST_ANSWER, [])])
      const at = machineTime()
      for (const wire of lines.flat()) if (!this.#seen.has(wire)) this.#seen.set(wire, at)
    }
  }

  end(): void {
    this.#watching = false
  }

  /** When calls that were granted a lock had been seen in its line. Who has it after another of its process has that one's name. */
  queued(events: readonly HistoryEvent[]): CallEvent[] {
    const firsts = new Map<string, CallEvent>()
    for (const event of events as readonly (CallEvent & { wire?: string })[]) {
      if (event.what !== 'granted' || event.wire === undefined) continue
      if (event.at < (firsts.get(event.wire)?.at ?? Infinity)) firsts.set(event.wire, event)
    }
    return [...firsts].flatMap(([wire, { at, process, call, name }]): CallEvent[] => {
      const seen = this.#seen.get(wire)
      return seen === undefined || seen >= at ? [] : [{ at: seen, what: 'queued', process, call, name }]
    })
  }
}

/** The dead stand in a line until somebody comes: he passes them over, and takes them out when they have not stirred. */
export const passBy = async (url: string): Promise<void> => {
  const client = await connect({ url, presence: false })
  for (const pause of [0, TRIAL + 200]) {
    await sleep(pause)
    for (const name of LOCKS) {
      const lock = isFair(name) ? client.fairLock(name) : client.lock(name)
      await lock.using({ wait: 10_000 }, () => undefined)
    }
  }
  await client.close()
}
