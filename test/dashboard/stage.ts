import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ListedLock, ListOptions } from 'holdfast'
import { dashboard, type DashboardOptions, toNode } from 'holdfast/dashboard'
import type { Client } from '../support/engines.js'
import type { Broken } from '../support/server.js'

/** Listens on a free port until the test is over; resolves to where. */
export const listening = async ({ after }: Pick<Broken, 'after'>, listener: RequestListener): Promise<string> => {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A dashboard of this server; resolves to its address, with a slash at the end. */
export const served = async (broken: Broken, options: Partial<DashboardOptions> = {}): Promise<string> => {
  const client = options.client ?? (await broken.open({ presence: false }))
  const serve = toNode(dashboard({ client, authorize: () => 'read', ...options }))
  return `${await listening(broken, (request, response) => void serve(request, response))}/`
}

/** The client with other parts. */
export const overriding = (client: Client, parts: Readonly<Record<string, unknown>>): Client =>
  new Proxy(client, {
    get: (target, part) => {
      if (typeof part === 'string' && Object.hasOwn(parts, part)) return parts[part]
      const value = Reflect.get(target, part) as unknown
      return typeof value === 'function' ? (value as () => unknown).bind(target) : value
    },
  })

/** The client, but it lists these locks. */
export const listing = (client: Client, locks: (options: ListOptions) => readonly ListedLock[]): Client =>
  overriding(client, {
    async *list(options: ListOptions = {}) {
      yield* locks(options)
    },
  })

/** A lock that one client holds for `remaining` ms more. */
export const heldLock = (name: string, remaining = 20_000): ListedLock => ({
  ...{ name, key: name, kind: 'lock', remaining, waiting: [] },
  holders: [{ owner: `${name}:1`, client: `${name}-0000`, label: 'web-1', mode: 'exclusive', count: 1 }],
})

export const heldBy = ({ holders: [holder] }: ListedLock) => holder ?? assert.fail()
