import { connect } from 'holdfast'

const [url = '', how = ''] = process.argv.slice(2)
const client = await connect(url)
const lock = client.lock(`exit:${how}`)
await lock.using(() => undefined)
const hold = await lock.acquire({ release: 'sent' })
// After a tick with several commands, the first one of the next tick waits for the others.
if (how === 'several') await Promise.all([client.lock('x').isLocked(), client.lock('y').isLocked()])
void hold.release()
process.exit(7)
