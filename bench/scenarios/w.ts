import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Participant } from '../participants/participant.js'
import type { Bench, Scenario } from '../measure/bench.js'
import { inTurn, observe } from '../measure/crowd.js'
import { SHARED } from '../processes/crowd-plan.js'
import { type Figures, findRow, format, target } from '../base/result.js'

const COUNT = 10_000
const LEASE = 30_000

const wait = async (bench: Bench, participant: Participant, seconds: number): Promise<Figures> => {
  const { url } = bench.server!.redis
  const holder = await participant.open(url, LEASE)
  const redis = new Redis(url)
  const held = await holder.lock('lock', SHARED).acquire()
  try {
    const beside = (until: number): Promise<void> => sleep(until - performance.now())
    return await observe(bench, participant, { count: COUNT, lease: LEASE, does: 'wait', seconds, beside })
  } finally {
    await held.release()
    await holder.close()
    await redis.flushall()
    redis.disconnect()
  }
}

const whole = (value: number): string => format(value, 0)

export const w: Scenario = {
  id: 'w',
  title: 'W: 10,000 calls of one process wait for one lock, and nothing happens',
  headline: { what: '10,000 calls wait: bytes each', key: 'bytes', digits: 0, less: true },
  about: {
    measures:
      'Another process has the lock. 10,000 acquires of one process, without time limit, wait for it; from when all do, ' +
      'what clients send in 10 s is counted, the renewals of the holder too. *Client* and *server* are shares of one core, ' +
      'the client that of the process that waits. *Bytes each* is the heap and what is outside of it, less what was there ' +
      'before, after collection; the promise that the caller has is in it. The larger of before and after those seconds.',
    differs:
      'holdfast queues its waiters in the process, and asks for the first of them. redis-semaphore polls for each, every ' +
      'millisecond as it is set up here; with its default of 10 ms they would ask a million times a second, which is still ' +
      'more than client and server can do.',
    misleads:
      'A time limit or a signal costs some memory more. Waiting is free of requests only as long as nothing happens: ' +
      'what a hand-over costs is in C and H.',
  },
  needsServer: true,
  rounds: 1,
  async run(bench) {
    const seconds = bench.quick ? 1 : 10
    const limit = 3 * seconds
    const whyNot = (participant: Participant) => (participant.waits ? undefined : 'does not wait')
    const rows = await inTurn(bench, whyNot, (participant) => wait(bench, participant, seconds))
    const cells = findRow(rows, 'holdfast')?.cells ?? {}
    return {
      columns: [
        { key: 'bytes', title: 'bytes each', digits: 0 },
        { key: 'requests', title: `requests in ${seconds} s`, digits: 0 },
        { key: 'client', title: 'client %', digits: 1 },
        { key: 'server', title: 'server %', digits: 1 },
      ],
      rows,
      targets: [
        target('memory per waiting acquire ≤ 2,048 bytes', cells['bytes'], (value) => value <= 2048, whole),
        target(`≤ ${limit} requests in ${seconds} s`, cells['requests'], (value) => value <= limit, whole),
      ],
    }
  },
}
