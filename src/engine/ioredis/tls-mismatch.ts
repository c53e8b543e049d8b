import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { limitAnswers } from '../../base/clock.js'
import type { Endpoint } from '../endpoint.js'
import type { ConnectionOptions } from './own-client.js'

/** A server with TLS has finished its handshake by then, ms; a server without waits for the rest of a line. */
const SLOW = 1000

interface Watch {
  /** Rejects if the server turns out not to use TLS; otherwise it never settles. */
  readonly promise: Promise<never>
  end(): void
}

/** While a TLS connection is being made: finds out whether the server expects plain text. */
export const withoutTls = ({ nodes, topology, tls }: Endpoint, { clock }: ConnectionOptions): Watch | undefined => {
  const [node] = nodes
  if (!tls || topology !== 'single' || node === undefined || 'path' in node) return undefined
  let end = (): void => undefined
  const promise = new Promise<never>((_resolve, reject) => {
    const timer = limitAnswers(
      clock,
      () => {
        const socket = connect(node)
        end = () => void socket.destroy()
        socket.on('error', () => undefined)
        socket.once('data', (data) => {
          socket.destroy()
          if (/^[+-]/.test(data.toString('latin1')))
            reject(new Error("the server does not speak TLS on this port: connect with 'redis:', or to its TLS port"))
        })
        socket.write('PING\r\n')
      },
      SLOW,
    )
    end = () => {
      timer.cancel()
    }
  })
  promise.catch(() => undefined)
  return { promise, end: () => end() }
}

/** Whether a server that closed a plain-text connection would accept TLS. Its certificate does not matter for that. */
export const speaksTls = ({ nodes, topology, tls }: Endpoint, { clock }: ConnectionOptions): Promise<boolean> => {
  const [node] = nodes
  if (tls || topology !== 'single' || node === undefined || 'path' in node) return Promise.resolve(false)
  return new Promise((resolve) => {
    const socket = connectTls({ ...node, rejectUnauthorized: false })
    const end = (speaks: boolean): void => {
      timer.cancel()
      socket.destroy()
      resolve(speaks)
    }
    const timer = limitAnswers(clock, () => end(false), SLOW)
    socket.once('secureConnect', () => end(true)).on('error', () => end(false))
  })
}
