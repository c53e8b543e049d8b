import { after, before, test } from 'node:test'
import { connect } from 'holdfast'
import { hashOf } from '#src/http/idempotency/key-field.js'
import { type Client, redisEngine, started } from '../../support/engines.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'
import { type Framework, frameworks, type Handler, type Settings, USER } from './frameworks.js'

export interface Asked {
  readonly key?: string | undefined
  readonly user?: string
  readonly body?: string | undefined
  readonly path?: string
  readonly method?: string
  readonly signal?: AbortSignal
  readonly type?: string
}

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly body: Buffer
}

export interface Stage {
  readonly framework: string
  /** Begins the names of the keys of this test. */
  readonly name: string
  readonly client: Client
  /** On Redis, a client of another process, as it were; on `memory:` the same. */
  readonly other: Client
  readonly server: RedisServer | undefined
  serve(settings: Partial<Settings>, handler: Handler): Promise<(asked?: Asked) => Promise<Answered>>
}

export const post = async (url: string, asked: Asked = {}): Promise<Response> => {
  const { key = '"k1"', user = 'ada', path = '/pay', method = 'POST', signal = null, type = 'text/plain' } = asked
  const { body = method === 'GET' || method === 'HEAD' ? undefined : 'ten euros' } = asked
  const headers = {
    [USER]: user,
    ...(key !== '' && { 'idempotency-key': key }),
    ...(body !== undefined && { 'content-type': type }),
  }
  return fetch(url + path, { method, headers, body: body ?? null, signal })
}

/** The names under which the flight keeps a key of ada. */
export const placeOf = (name: string, key: string): { flight: string; hash: string } => {
  const hash = hashOf('ada', key)
  return { flight: `${name}:${hash.slice(0, 1)}`, hash }
}

let stages = 0

/** Inside a `describe`: a test for each framework, with an engine that the tests share. */
export const stageOf = (engine: 'memory' | 'redis', only: readonly Framework[] = frameworks) => {
  let server: RedisServer | undefined
  let skip: string | undefined
  before(async () => {
    if (engine === 'memory') return
    skip = await started({ ...redisEngine, start: async () => void (server = await startRedis()) })
  })
  after(async () => server?.stop())

  const staged = async (framework: Framework, body: (stage: Stage) => Promise<void>): Promise<void> => {
    const clients = [await connect(server?.url ?? 'memory:')]
    if (server !== undefined) clients.push(await connect(server.url))
    const name = `pay-${++stages}`
    const ends: (() => Promise<void>)[] = []
    const [client, other = client] = clients as [Client, Client?]
    const serve: Stage['serve'] = async (settings, handler) => {
      const { url, end } = await framework.serve({ client, name, ...settings }, handler)
      ends.push(end)
      return async (asked) => {
        const response = await post(url, asked)
        const { status, headers } = response
        return { status, headers, body: Buffer.from(await response.arrayBuffer()) }
      }
    }
    try {
      await body({ framework: framework.name, name, client, other, server, serve })
    } finally {
      for (const end of ends) await end()
      for (const one of clients) await one.close()
    }
  }

  return (name: string, body: (stage: Stage) => Promise<void>): void => {
    for (const framework of only)
      void test(`${framework.name}: ${name}`, { timeout: 60_000 }, async (t) => {
        if (skip !== undefined) t.skip(skip)
        else await staged(framework, body)
      })
  }
}

/** A promise that a test resolves. */
export const gate = (): { readonly opened: Promise<void>; open(): void } => {
  let open!: () => void
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}
