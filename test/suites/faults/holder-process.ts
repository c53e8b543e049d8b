/** Holds a lock and tells the parent of each turn: `holder-process.js <url> <name> <lease, 0: renewed> <watchdog>`. */
import { connect } from 'holdfast'
import { machineTime } from '../soak/log.js'

export interface Turn {
  readonly at: number
  readonly what: 'held' | 'turn' | 'signal' | 'released'
  readonly state: string
  readonly remaining: number
}

export type Order = { readonly block: number } | 'release'

const [url = '', name = '', lease = '0', watchdog = '1500'] = process.argv.slice(2)
const client = await connect({ url, watchdog: Number(watchdog), presence: false })
const hold = await client.lock(name).acquire(lease === '0' ? {} : { lease: Number(lease) })
const tell = (what: Turn['what']): void => {
  process.send?.({ at: machineTime(), what, state: hold.state, remaining: hold.remaining() } satisfies Turn)
}
hold.signal.addEventListener('abort', () => tell('signal'))
const turns = setInterval(() => tell('turn'), 20)
process.on('disconnect', () => process.exit(0))
process.on('message', (order: Order) => {
  if (order === 'release') {
    clearInterval(turns)
    void hold.release().then(async () => {
      tell('released')
      await client.close()
      process.disconnect()
    })
  } else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, order.block)
})
tell('held')
