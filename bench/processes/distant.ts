/**
 * A server at a distance: `distant.js PORT MS`. Each byte arrives half of MS later, in order, in both directions; as many bytes may be on their way
 * as a caller sends. Opening a connection takes no longer. Answers `port` with its port, and `turns` with how often callers have waited for a reply.
 */
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'

export type DistantMessage = 'port' | 'turns'

const [port = '', ms = ''] = process.argv.slice(2)
const HALF = Number(ms) / 2
/** ms. A timer may fire so much later than it is due; the rest of the time is spent looking at the clock. */
const LATE = 1.5
/** Bytes. If the other side takes no more, the sender must wait. */
const MOST = 1 << 20

interface Arrival {
  readonly due: number
  readonly run: () => void
}

/** All wait for equally long, so they are due in the order in which they came. */
let underWay: Arrival[] = []
let turns = 0

const arriveDue = (): void => {
  const now = performance.now()
  let count = 0
  while (count < underWay.length && underWay[count]!.due <= now) underWay[count++]!.run()
  underWay = underWay.slice(count)
  if (underWay.length > 0) waitForNext()
}

const waitForNext = (): void => {
  const left = underWay[0]!.due - performance.now()
  if (left > LATE) setTimeout(arriveDue, left - LATE)
  else setImmediate(arriveDue)
}

const later = (run: () => void): void => {
  if (underWay.push({ due: performance.now() + HALF, run }) === 1) waitForNext()
}

const forward = (from: Socket, to: Socket, seen: () => void, arrived: () => void): void => {
  from.setNoDelay(true)
  from.on('data', (bytes) => {
    seen()
    later(() => {
      arrived()
      to.write(bytes)
      if (to.writableLength <= MOST) return
      from.pause()
      to.once('drain', () => from.resume())
    })
  })
  from.on('end', () => later(() => to.end()))
  from.on('close', () => later(() => to.destroy()))
  from.on('error', () => undefined)
}

const server = createServer({ allowHalfOpen: true }, (caller) => {
  const redis = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true })
  let waits = false
  const asks = (): void => {
    if (!waits) turns++
    waits = true
  }
  const isAnswered = (): void => {
    waits = false
  }
  forward(caller, redis, asks, () => undefined)
  forward(redis, caller, () => undefined, isAnswered)
})

process.on('message', (message: DistantMessage | 'end') => {
  if (message === 'end') process.exit()
  process.send?.(message === 'port' ? (server.address() as AddressInfo).port : turns)
})
// The bench was interrupted, or is through with this one.
process.once('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => process.send?.('ready'))
