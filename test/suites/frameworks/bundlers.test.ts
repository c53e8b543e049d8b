import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { type RedisServer, startRedis } from '../../support/redis-server.js'
import {
  blockOf,
  bundle,
  BUNDLERS,
  type Bundler,
  LIBRARIES,
  PAGE,
  project,
  saidSize,
  shell,
  start,
} from './bundlers.js'

let server: RedisServer
before(async () => {
  server = await startRedis()
})
after(() => server.stop())

/** A figure of the page may be older than the last few changes. */
const NEAR = 0.1

void describe('a bundle, made as docs/bundling.md says', () => {
  for (const bundler of Object.keys(BUNDLERS) as Bundler[])
    void test(`${bundler} → acquires a lock where there are no packages, and is as large as the page says`, async () => {
      const { file, bytes, remove } = await bundle(bundler, 'holdfast')
      try {
        assert.ok((await start(file, server.url)) > 0)
      } finally {
        remove()
      }
      const said = saidSize(bundler, 'holdfast')
      assert.ok(Math.abs(bytes / 1000 - said) < said * NEAR, `${Math.round(bytes / 1000)} kB; the page says ${said}`)
    })
})

const TYPED = LIBRARIES.holdfast
  .replace('async (url)', 'async (url: string)')
  .replace('process.argv[2]', 'process.argv[2]!')
const MODULE = '{ "type": "module" }'
const TSCONFIG = JSON.stringify({
  compilerOptions: { module: 'node16', target: 'ES2022', lib: ['ES2022'], types: ['node'], strict: true },
})

const inProject = async (files: Record<string, string>, body: (folder: string) => Promise<void>): Promise<void> => {
  const folder = project(files)
  try {
    await body(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

void describe('a program in TypeScript, and a test of it', () => {
  const ways: readonly (readonly [name: string, command: string, files: Record<string, string>])[] = [
    ['tsx, in an ES module', 'tsx app.ts', { 'package.json': MODULE }],
    ['tsx, in CommonJS', 'tsx app.ts', { 'package.json': '{}' }],
    ['ts-node, which checks types, in CommonJS', 'ts-node app.ts', { 'package.json': '{}' }],
  ]
  for (const [name, command, files] of ways)
    void test(`${name} → acquires a lock on a server`, () =>
      inProject({ 'app.ts': TYPED, 'tsconfig.json': TSCONFIG, ...files }, async (folder) => {
        assert.match(await shell(`${command} ${server.url}`, folder), /"done":true/)
      }))

  void test('ts-node → refuses a call with a wrong type: the types are there', () =>
    inProject(
      { 'app.ts': TYPED.replace("lock('bundled')", 'lock(7)'), 'tsconfig.json': TSCONFIG, 'package.json': '{}' },
      (folder) => assert.rejects(shell(`ts-node app.ts ${server.url}`, folder), /TS2345/),
    ))

  void test('Vitest, without settings → the test of the page passes, and fails if what it expects is not so', async () => {
    const text = blockOf('ts', '// lock.test.ts')
    await inProject({ 'lock.test.ts': text, 'package.json': MODULE }, async (folder) => {
      assert.match(await shell('NO_COLOR=1 vitest run', folder), /Tests +1 passed/)
    })
    await inProject({ 'lock.test.ts': text.replace('1001', '1'), 'package.json': MODULE }, (folder) =>
      assert.rejects(shell('NO_COLOR=1 vitest run', folder), /Failed Tests 1/),
    )
  })
})

void test('docs/bundling.md → names each bundler in its table, once', () => {
  const rows = [...readFileSync(PAGE, 'utf8').matchAll(/^\| ([^|]+) \| \d+ kB, \d+ ms/gm)].map(([, name]) => name)
  assert.deepEqual(rows, Object.keys(BUNDLERS))
})
