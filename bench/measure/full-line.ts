import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { fairDeadlines, fairQueue, grantChannel, lockChannel } from '#src/keys.js'
import { fairLockForceRelease } from '#src/lua/scripts.gen.js'
import type { Participant } from '../participants/participant.js'
import type { Bench } from './bench.js'
import { Crew, namesOf } from '../processes/crew.js'
import type { Load, Sample } from '../base/load.js'
import type { Reading } from './server-meter.js'

/** Seconds until all stand in the line, at most; and then, until what counts. */
const FILL = { usual: 16, quick: 3 }
const WARM = 0.7
const LEAD = 30

interface Worked {
  readonly samples: readonly Sample[]
  readonly readings: readonly [Reading, Reading]
  /** Seconds until all stood in the line. */
  readonly full: number
}

/** Holds the fair lock of a participant until all of its callers wait for it. */
class Barrier {
  readonly #redis: Redis
  readonly #key: string

  constructor(url: string, key: string) {
    this.#redis = new Redis(url)
    this.#key = key
  }

  async close(): Promise<void> {
    await this.#redis.flushall()
    await this.#redis.hset(this.#key, 'barrier', 1)
  }

  async filled(count: number, until: number): Promise<void> {
    for (;;) {
      const waiting = await this.#redis.llen(fairQueue(this.#key))
      if (waiting === count) return
      if (Date.now() > until) throw new Error(`only ${waiting} of ${count} stood in the line in time`)
      await sleep(20)
    }
  }

  /** The first in the line is told in its own way, of ours or of Redisson's. */
  async open(): Promise<void> {
    const key = this.#key
    const keys = [key, fairQueue(key), fairDeadlines(key)]
    const voices = [lockChannel(key), grantChannel(key), 'PUBLISH']
    await this.#redis.eval(fairLockForceRelease.text, keys.length, ...keys, 30_000, 300_000, ...voices)
  }

  end(): void {
    this.#redis.disconnect()
  }
}

/** The line is full before anybody has the lock, and nobody waits for its end: the processes are killed. */
export const workInLine = async (
  { server, quick }: Bench,
  participant: Participant,
  load: Load,
  seconds: number,
): Promise<Worked> => {
  const { redis, meter } = server!
  const barrier = new Barrier(redis.url, participant.keyOf(namesOf(participant, load, 0)[0]!))
  await barrier.close()
  const crew = await Crew.open(participant, redis.url, load)
  try {
    const fill = FILL[quick ? 'quick' : 'usual']
    const startAt = Date.now() + LEAD
    const working = crew.work({ startAt, warm: fill + WARM, seconds })
    working.catch(() => undefined)
    await barrier.filled(load.processes * load.callers, startAt + fill * 1000)
    const full = (Date.now() - startAt) / 1000
    await sleep(startAt + fill * 1000 - Date.now())
    await barrier.open()
    await sleep(WARM * 1000)
    const before = await meter.read()
    const samples = await working
    return { samples, readings: [before, await meter.read()], full }
  } finally {
    await crew.kill()
    barrier.end()
  }
}
