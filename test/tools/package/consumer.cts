// Compiled against the packed tarball as CommonJS, by the oldest and the newest compiler; never run.
import { connect, LockLostError, type Hold, type Lock } from 'holdfast'
import { rateLimit as forHono } from 'holdfast/hono'
import { rateLimit } from 'holdfast/express'
import { virtualClock } from 'holdfast/testing'

export const main = async (): Promise<void> => {
  const client = await connect({ url: 'memory:', clock: virtualClock(7) })
  const lock: Lock = client.lock('orders')
  const hold: Hold = await lock.acquire({ lease: 5000 })
  if (hold.signal.reason instanceof LockLostError) console.log(hold.signal.reason.target)
  console.log(
    rateLimit({ client, permits: 1, interval: 1 }),
    forHono({ client, permits: 1, interval: 1, key: () => 'a' }),
  )
  await client.close()
}
