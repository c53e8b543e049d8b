import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Client } from '../../api/client.js'
import { systemClock } from '../../base/clock.js'
import { dashboard, type DashboardAction, toNode } from '../../dashboard/index.js'
import { plainText, quoted } from '../../plain-text.js'
import { say } from '../say.js'

interface LocalOptions {
  readonly client: Client
  /** What the page calls the server. */
  readonly title: string
  /** What the reader of the printed address may do. */
  readonly leave: 'read' | 'act'
}

const COOKIE = 'holdfast-dashboard'
const HOSTS = ['127.0.0.1', 'localhost']

const secret = (bytes: number): string => Buffer.from(systemClock.randomBytes(bytes)).toString('base64url')

const same = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const DONE = {
  release: { try: 'release', done: 'released', nothing: 'released' },
  ask: { try: 'ask for', done: 'asked for', nothing: 'asked' },
  extend: { try: 'extend', done: 'extended the lease of', nothing: 'extended' },
} as const

const tell = ({ type, name, client, label, done }: DashboardAction): void => {
  const words = DONE[type]
  const who = label === undefined ? `client ${plainText(client)}` : plainText(label)
  if (done === undefined)
    say(`the page tried to ${words.try} ${quoted(name)}, held by ${who}; the server did not confirm it`)
  else if (done) say(`the page ${words.done} ${quoted(name)}, which was held by ${who}`)
  else if (type === 'ask') say(`the page asked for ${quoted(name)}, but the program of ${who} does not listen`)
  else say(`the page ${words.nothing} nothing: ${quoted(name)} was not held by ${who} any more`)
}

/** As `URL` writes them: port 80 is left out. */
export const hostsOf = (port: number): readonly string[] => HOSTS.map((name) => new URL(`http://${name}:${port}`).host)

/** A dashboard on this machine alone: for who knows the token, and not for pages of other hosts whose names lead here. */
export class LocalDashboard {
  readonly #leave: 'read' | 'act'
  readonly #server: Server
  /** Browsers send the cookies of a host to all of its ports, where other programs may listen: but not to a path that these do not know. */
  readonly #path = `/${secret(16)}`
  readonly #token = secret(24)
  #port = 0

  constructor({ client, title, leave }: LocalOptions) {
    this.#leave = leave
    const authorize = (request: Request) => this.#leaveOf(request)
    const serve = toNode(dashboard({ client, title, authorize, path: this.#path, onAction: tell }))
    this.#server = createServer((request, response) => {
      if (!this.#enter(request, response)) void serve(request, response)
    })
  }

  /** Resolves to the address, with the token; undefined: the port is not available. */
  listen(port: number): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.#server.once('error', () => resolve(undefined))
      this.#server.listen(port, '127.0.0.1', () => {
        const address = this.#server.address()
        this.#port = typeof address === 'object' && address !== null ? address.port : port
        resolve(`http://127.0.0.1:${this.#port}/?token=${this.#token}`)
      })
    })
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }

  #leaveOf(request: Request): false | 'read' | 'act' {
    if (!hostsOf(this.#port).includes(new URL(request.url).host)) return false
    const cookies = (request.headers.get('cookie') ?? '').split(';').map((one) => one.trim())
    const known = cookies.some((one) => same(one, `${this.#cookie}=${this.#token}`))
    return known && this.#leave
  }

  get #cookie(): string {
    return `${COOKIE}-${this.#port}`
  }

  /** The printed address: the token becomes a cookie, so that it is in no address any more. */
  #enter({ method, url = '/' }: IncomingMessage, response: ServerResponse): boolean {
    const token = /^\/\?token=([\w-]{1,64})$/.exec(url)?.[1]
    if (method !== 'GET' || token === undefined || !same(token, this.#token)) return false
    response.writeHead(302, {
      Location: `${this.#path}/`,
      'Set-Cookie': `${this.#cookie}=${token}; HttpOnly; SameSite=Strict; Path=${this.#path}/`,
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
    })
    response.end()
    return true
  }
}
