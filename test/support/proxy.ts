import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'

export interface Proxy {
  readonly url: string
  /** How long replies are kept back, in ms. */
  delay: number
  /** Replies are thrown away; requests still reach the server. */
  mute: boolean
  /** Requests are thrown away as well. */
  deaf: boolean
  /** Called with every request. */
  onRequest: (request: string) => void
  /** Ends all connections. */
  cut(): void
  close(): Promise<void>
}

/** Stands between a client and a server, and is in the way. */
export const startProxy = async (port: number): Promise<Proxy> => {
  const sockets = new Set<Socket>()
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    near.on('data', (data) => {
      if (proxy.deaf) return
      proxy.onRequest(data.toString('latin1'))
      far.write(data)
    })
    far.on('data', (data) => {
      if (proxy.mute) return
      if (proxy.delay === 0) near.write(data)
      else setTimeout(() => near.write(data), proxy.delay)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const proxy: Proxy = {
    url: `redis://127.0.0.1:${address.port}`,
    delay: 0,
    mute: false,
    deaf: false,
    onRequest: () => undefined,
    cut,
    async close() {
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
  }
  return proxy
}
