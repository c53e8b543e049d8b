import { once } from 'node:events'
import { connect } from '../../index.js'
import type { Job } from './victim.js'

/** The process that the demo kills. It acquires one lock, reports that, and renews the lock until it is killed. */

// Without its parent, no process would kill it.
process.once('disconnect', () => process.exit(0))
const [job] = (await once(process, 'message')) as [Job]
const client = await connect({ url: job.url, watchdog: job.watchdog, label: job.label })
await client.lock(job.lock).acquire()
process.send?.('held')
