import { connect } from 'holdfast'

/** Acquires one lock, or waits for it, until it is killed: `lock-user-process URL LABEL NAME [LEASE]`. Says when it has asked. */
const [url = '', label = '', name = '', lease] = process.argv.slice(2)
const client = await connect({ url, label })
const asked = client.lock(name).acquire(lease === undefined ? {} : { lease: Number(lease) })
process.stdout.write('asked\n')
await asked
