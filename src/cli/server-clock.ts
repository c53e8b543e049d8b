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

/** A clock that shows the server's time: holders and waiters are as old as the server says, even if the clock of this machine is wrong. */
export const serverClock = async (client: Client): Promise<() => number> => {
  const sent = systemClock.now()
  try {
    const time = await timeOf(client)
    const ahead = Number(time[0]) * 1000 + Number(time[1]) / 1000 - (sent + systemClock.now()) / 2
    return () => systemClock.now() + ahead
  } catch (error) {
    if (isA(error, EngineError) && error.code === 'NOPERM') return () => systemClock.now()
    throw error
  }
}
