import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { withoutMessages } from './resp.js'

/** What is kept back until this changes, and arrives then: as packets do that had to be sent again. */
export type Held = 'nothing' | 'requests' | 'replies' | 'everything'

export interface Proxy {
  readonly url: string
  /** How long replies are kept back, in ms. */
  delay: number
  /** Replies are thrown away; requests still reach the server. */
  mute: boolean
  /** Requests are thrown away as well. */
  deaf: boolean
  /** Messages of channels are thrown away; everything else passes. */
  silent: boolean
  held: Held
  /** Where connections from now on lead: the port of the server. */
  target: number
  /** The connections that stand now, but for those that were the first so many, are dead in this direction, for good; later ones live. */
  stall(what: Held, after?: number): void
  /** How many connections were accepted. */
  readonly accepted: number
  /** How many messages were thrown away. */
  readonly silenced: number
  /** What becomes of the next replies on their way, one write of the server's each; asked once for each. */
  reshape: ((reply: Buffer) => Buffer) | undefined
  /** Every client is sent this, which no server has said. */
  inject(bytes: string): void
  /** Called with every request. */
  onRequest: (request: string) => void
  /** Ends all connections. */
  cut(): void
  /** Ends each connection at the next reply on it: the server has done what it was asked to, and nobody hears of it. */
  cutInsteadOfReply(): void
  close(): Promise<void>
}

/** One direction of a connection: nothing overtakes what is kept back. */
class Direction {
  readonly #to: Socket
  #kept: { readonly data: Buffer; readonly due: number }[] = []
  #timer: NodeJS.Timeout | undefined
  held = false

  constructor(to: Socket) {
    this.#to = to
    to.once('close', () => {
      clearTimeout(this.#timer)
      this.#kept = []
    })
  }

  pass(data: Buffer, delay: number): void {
    const earliest = performance.now() + delay
    this.#kept.push({ data, due: Math.max(earliest, this.#kept.at(-1)?.due ?? 0) })
    this.flush()
  }

  flush(): void {
    clearTimeout(this.#timer)
    if (this.held) return
    for (let first = this.#kept[0]; first !== undefined; first = this.#kept[0]) {
      const left = first.due - performance.now()
      if (left > 0) {
        this.#timer = setTimeout(() => this.flush(), Math.ceil(left))
        return
      }
      this.#kept.shift()
      this.#to.write(first.data)
    }
  }
}

/** A client's connection and the one made for it. */
class Line {
  readonly sockets: readonly [near: Socket, far: Socket]
  readonly requests: Direction
  readonly replies: Direction
  readonly number: number
  /** Is to be ended at the next reply. */
  doomed = false

  constructor(near: Socket, far: Socket, number: number) {
    this.number = number
    this.sockets = [near, far]
    this.requests = new Direction(far)
    this.replies = new Direction(near)
  }

  hold(held: Held): void {
    this.requests.held = held === 'requests' || held === 'everything'
    this.replies.held = held === 'replies' || held === 'everything'
    this.requests.flush()
    this.replies.flush()
  }

  end(): void {
    for (const socket of this.sockets) socket.destroy()
  }
}

/** Stands between a client and a server, and is in the way. */
export const startProxy = async (port: number): Promise<Proxy> => {
  const lines = new Set<Line>()
  let held: Held = 'nothing'
  let silenced = 0
  let accepted = 0
  const cut = (): void => {
    for (const line of lines) line.end()
    lines.clear()
  }
  const server = createServer((near) => {
    const far = connect(proxy.target, '127.0.0.1')
    const line = new Line(near, far, ++accepted)
    lines.add(line)
    line.hold(held)
    for (const socket of line.sockets) {
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        lines.delete(line)
        line.end()
      })
    }
    near.on('data', (data) => {
      if (proxy.deaf) return
      proxy.onRequest(data.toString('latin1'))
      line.requests.pass(data, 0)
    })
    const filter = withoutMessages(() => {
      if (proxy.silent) silenced += 1
      return !proxy.silent
    })
    far.on('data', (data) => {
      const rest = filter(data)
      if (line.doomed) line.end()
      else if (!proxy.mute && rest.length > 0) line.replies.pass(proxy.reshape?.(rest) ?? rest, proxy.delay)
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
    silent: false,
    get held() {
      return held
    },
    set held(what) {
      held = what
      for (const line of lines) line.hold(what)
    },
    get silenced() {
      return silenced
    },
    target: port,
    stall(what, after = 0) {
      for (const line of lines) if (line.number > after) line.hold(what)
    },
    get accepted() {
      return accepted
    },
    reshape: undefined,
    inject(bytes) {
      for (const line of lines) line.replies.pass(Buffer.from(bytes, 'latin1'), 0)
    },
    onRequest: () => undefined,
    cut,
    cutInsteadOfReply() {
      for (const line of lines) line.doomed = true
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
  }
  return proxy
}
