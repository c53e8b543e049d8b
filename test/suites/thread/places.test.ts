import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { ClientOptions } from 'holdfast'
import { redisEngine, started } from '../../support/engines.js'
import { startCluster } from '../../support/redis-cluster.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'
import { startWatched } from '../../support/redis-sentinel.js'
import { startTlsServer } from '../../support/tls-server.js'
import { Holder, THREE_LEASES } from './holder.js'
import { KINDS } from './kinds.js'

interface Place {
  readonly options: ClientOptions
  stop(): Promise<void>
}

const survives = async (t: TestContext, options: ClientOptions, program?: string): Promise<void> => {
  const after = (work: () => unknown): void => t.after(work)
  const wanted = {
    options: { ...options, watchdog: { thread: true } },
    kinds: KINDS.filter((kind) => kind !== 'multi'),
    after,
  }
  const holder = await Holder.start(program === undefined ? wanted : { ...wanted, program })
  const back = await holder.blocked(THREE_LEASES)
  for (const kind of wanted.kinds) assert.equal(back.states[kind]?.lost, undefined, kind)
  assert.equal((await holder.release()).text, wanted.kinds.map(() => 'true').join())
}

const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  async 'TLS with a certificate of its own'() {
    const { port, authority, client, stop } = await startTlsServer()
    const tls = { ca: authority.cert, cert: client.cert, key: client.key }
    return { options: { url: `rediss://127.0.0.1:${port}`, tls }, stop }
  },
  async 'a cluster'() {
    const cluster = await startCluster()
    return { options: { url: cluster.url }, stop: () => cluster.stop() }
  },
  async Sentinel() {
    const watched = await startWatched(1)
    return { options: { url: watched.url }, stop: () => watched.stop() }
  },
  async 'a user and a database'() {
    const server = await startRedis(['--requirepass', 'secret'])
    return { options: { url: `redis://:secret@127.0.0.1:${server.port}/3` }, stop: () => server.stop() }
  },
}

for (const [name, start] of Object.entries(PLACES)) {
  void test(
    `${name}: the thread connects as its process does, and nothing is lost`,
    { timeout: 180_000 },
    async (t) => {
      let place: Place | undefined
      const skip = await started({ ...redisEngine, start: async () => void (place = await start()) })
      if (place === undefined) return t.skip(skip ?? 'no server')
      t.after(place.stop)
      await survives(t, place.options)
    },
  )
}

const APP = fileURLToPath(new URL('blocked-process.js', import.meta.url))
const THREAD = fileURLToPath(import.meta.resolve('holdfast/renewal-thread'))

/** The program as one file, as a bundler makes it; with the thread’s as a second one, if it is told to. */
const bundled = async (t: TestContext, thread: boolean): Promise<string> => {
  const outdir = mkdtempSync(join(tmpdir(), 'holdfast-bundle-'))
  t.after(() => rmSync(outdir, { recursive: true }))
  writeFileSync(join(outdir, 'package.json'), '{ "type": "module" }')
  await build({
    entryPoints: { app: APP, ...(thread && { 'renewal-thread': THREAD }) },
    ...{ outdir, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' },
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  })
  return join(outdir, 'app.js')
}

const onPlainServer = (name: string, body: (t: TestContext, url: string) => Promise<void>): void => {
  void test(name, { timeout: 180_000 }, async (t) => {
    let server: RedisServer | undefined
    const skip = await started({ ...redisEngine, start: async () => void (server = await startRedis()) })
    if (server === undefined) return t.skip(skip ?? 'no server')
    t.after(server.stop)
    await body(t, server.url)
  })
}

onPlainServer('bundled with the file of the thread beside it: nothing is lost', async (t, url) => {
  await survives(t, { url }, await bundled(t, true))
})

onPlainServer('bundled without it → a ConfigError that says what to do', async (t, url) => {
  const options = JSON.stringify({ url, watchdog: { thread: true } })
  const { stderr, status } = spawnSync(process.execPath, [await bundled(t, false), options, '[]'], { encoding: 'utf8' })
  assert.notEqual(status, 0)
  assert.match(stderr, /ConfigError.*no file '.*renewal-thread\.js'.*holdfast\/renewal-thread/)
})
