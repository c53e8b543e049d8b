import type { Client } from '../api/client.js'
import { systemClock } from '../base/clock.js'
import { EngineError } from '../errors.js'
import { isA } from '../thrown.js'
import { anyMaster } from './any-master.js'

const timeOf = (client: Client): Promise<readonly unknown[]> =>
  anyMaster<readonly unknown[]>(
    client,
    (probe, node) => probe.texts(['TIME'], node),
    () => client.script("return redis.call('TIME')").run({ returns: 'list' }),
  )

/** How many ms the server's clock is ahead of this machine's: at least and at most. The answer does not say when on its way it was given. */
export type Ahead = readonly [least: number, most: number]

/** Asks the server for its time. If this user may not ask, both clocks count as equal. */
export const askAhead = async (client: Client): Promise<Ahead> => {
  const sent = systemClock.now()
  try {
    const time = await timeOf(client)
    const at = Number(time[0]) * 1000 + Number(time[1]) / 1000
    return [at - systemClock.now(), at - sent]
  } catch (error) {
    if (isA(error, EngineError) && error.code === 'NOPERM') return [0, 0]
    throw error
  }
}

/** A clock that shows the server's time: holders and waiters are as old as the server says, even if the clock of this machine is wrong. */
export const serverClock = async (client: Client): Promise<() => number> => {
  const [least, most] = await askAhead(client)
  return () => systemClock.now() + (least + most) / 2
}
