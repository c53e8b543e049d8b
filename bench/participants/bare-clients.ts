import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { root, versionOf } from '../base/paths.js'

/** A client of the caller's own, bare, and how its documents call a script by its SHA. */
export interface Bare {
  readonly connection: object
  load(text: string): Promise<unknown>
  run(sha: string, keys: readonly string[], args: readonly string[]): Promise<unknown>
  end(): Promise<unknown> | void
}

export interface Adapter {
  readonly name: string
  /** Undefined: not installed. */
  version(): string | undefined
  open(port: number): Promise<Bare>
}

type Words = readonly string[]

const overIoredis = (client: Redis): Bare => ({
  connection: client,
  load: (text) => client.script('LOAD', text),
  run: (sha, keys, args) => client.evalsha(sha, keys.length, ...keys, ...args),
  end: () => client.disconnect(),
})

interface NodeRedis {
  createClient(options: object): {
    connect(): Promise<unknown>
    on(event: string, listener: () => void): unknown
    scriptLoad(text: string): Promise<unknown>
    evalSha(sha: string, options: { keys: Words; arguments: Words }): Promise<unknown>
    destroy(): void
  }
}

const nodeRedis = (name: 'node-redis5' | 'node-redis6'): Adapter => ({
  name: `node-redis ${name.slice(-1)}`,
  version: () => versionOf(`node_modules/${name}`),
  async open(port) {
    const client = ((await import(name)) as NodeRedis).createClient({ url: `redis://127.0.0.1:${port}` })
    client.on('error', () => undefined)
    await client.connect()
    return {
      connection: client,
      load: (text) => client.scriptLoad(text),
      run: (sha, keys, args) => client.evalSha(sha, { keys, arguments: args }),
      end: () => client.destroy(),
    }
  },
})

const PACKAGES = 'test/suites/connections/packages'

interface Glide {
  readonly GlideClient: {
    createClient(options: object): Promise<{ customCommand(words: string[]): Promise<unknown>; close(): void }>
  }
}

const glide: Adapter = {
  name: 'Valkey GLIDE',
  version: () => versionOf(`${PACKAGES}/node_modules/@valkey/valkey-glide`),
  async open(port) {
    const { GlideClient } = createRequire(join(root, PACKAGES, 'package.json'))('@valkey/valkey-glide') as Glide
    const client = await GlideClient.createClient({ addresses: [{ host: '127.0.0.1', port }] })
    return {
      connection: client,
      load: (text) => client.customCommand(['SCRIPT', 'LOAD', text]),
      run: (sha, keys, args) => client.customCommand(['EVALSHA', sha, String(keys.length), ...keys, ...args]),
      end: () => client.close(),
    }
  },
}

export const adapters: readonly Adapter[] = [
  {
    name: 'ioredis 6',
    version: () => versionOf('node_modules/ioredis'),
    open: (port) => Promise.resolve(overIoredis(new Redis(port))),
  },
  {
    name: 'ioredis 5',
    version: () => versionOf('node_modules/ioredis5'),
    open: async (port) => overIoredis(new (await import('ioredis5')).Redis(port) as unknown as Redis),
  },
  nodeRedis('node-redis6'),
  nodeRedis('node-redis5'),
  glide,
]
