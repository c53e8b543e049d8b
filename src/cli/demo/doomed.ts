import { once } from 'node:events'
import { connect } from '../../index.js'
import type { Job } from './victim.js'

/** The process that the demo kills: it takes one lock, says so, and renews it until the end comes. */

// Without a parent there is nobody to be killed by.
process.once('disconnect', () => process.exit(0))
const [job] = (await once(process, 'message')) as [Job]
const client = await connect({ url: job.url, watchdog: job.watchdog })
await client.lock(job.lock).acquire()
process.send?.('held')
