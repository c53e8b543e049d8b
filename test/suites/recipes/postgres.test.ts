import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { type PostgresServer, startPostgres } from '../../support/postgres.js'
import { allWell, count, firstToSay, type Recipe, recipe, type Running, soon } from './recipe.js'

interface Database {
  connect(): Promise<void>
  query(text: string): Promise<{ rows: Record<string, unknown>[] }>
  end(): Promise<void>
}

const required = (process.env['HOLDFAST_REQUIRE'] ?? '').includes('postgres')

void describe('the recipes with PostgreSQL', { concurrency: true }, () => {
  let postgres: PostgresServer | undefined
  let packages = ''
  let reason: string | undefined
  before(async () => {
    packages = await mkdtemp(join(tmpdir(), 'holdfast-recipe-'))
    try {
      const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--prefix', packages]
      await promisify(execFile)('npm', ['install', ...quietly, 'pg@8'], { cwd: packages })
    } catch (error) {
      reason = `no postgres driver from the registry: ${String(error)}`
      return
    }
    const server = await startPostgres()
    if (typeof server === 'string') reason = server
    else postgres = server
  })
  after(async () => {
    await postgres?.stop()
    await rm(packages, { recursive: true, force: true })
  })

  /** The page's programs, a database of their own for them, and a connection to it. */
  const withDatabase = async (t: TestContext, page: string, name: string) => {
    if (postgres === undefined) {
      assert.ok(!required, reason)
      t.skip(reason)
      return undefined
    }
    const here = await recipe(t, page)
    if (here === undefined) return undefined
    await symlink(join(packages, 'node_modules'), join(here.folder, 'node_modules'))
    const { Client } = createRequire(join(packages, 'package.json'))('pg') as {
      Client: new (options: { connectionString: string }) => Database
    }
    const open = async (url: string): Promise<Database> => {
      const database = new Client({ connectionString: url })
      await database.connect()
      t.after(() => database.end())
      return database
    }
    await (await open(postgres.url)).query(`CREATE DATABASE ${name}`)
    const url = postgres.url.replace(/\/postgres$/, `/${name}`)
    return { here, url, open: () => open(url) }
  }

  const urlOf = async (running: Running): Promise<string> => (await running.said(/listening on (http\S+)/))[1] ?? ''

  const pay = (url: string, key: string, amount = 10, account = 'ada'): Promise<Response> =>
    fetch(`${url}/payments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-account': account, 'idempotency-key': key },
      body: JSON.stringify({ amount }),
    })

  /** As a client does: it comes again until there is an answer. 503: the machine is too busy to ask Redis within a second. */
  const payUntilAnswered = async (...args: Parameters<typeof pay>): Promise<string> => {
    let answer = ''
    await soon(async () => {
      const response = await pay(...args)
      answer = `${response.status} ${await response.text()}`
      return ![409, 503].includes(response.status)
    })
    return answer
  }

  const balanceOf = async (database: Database): Promise<unknown> =>
    (await database.query(`SELECT balance FROM account WHERE id = 'ada'`)).rows[0]?.['balance']

  const startTwo = (here: Recipe, url: string): Running[] =>
    [1, 2].map(() => here.start('payments.mjs', [], { PORT: '0', DATABASE_URL: url }))

  void test('20 equal payments to two processes → charged once, one answer for all; another key → once more', async (t) => {
    const all = await withDatabase(t, 'payment.md', 'equal')
    if (all === undefined) return
    const urls = await Promise.all(startTwo(all.here, all.url).map(urlOf))
    const database = await all.open()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => payUntilAnswered(urls[index % 2]!, 'order-7')),
    )
    assert.deepEqual(new Set(answers), new Set(['201 {"payment":"order-7","amount":10}']))
    assert.equal(await balanceOf(database), 90)
    await payUntilAnswered(urls[0]!, 'order-8')
    assert.equal(await balanceOf(database), 80)
  })

  void test('the process dies after the charge, before the answer → the retry is answered, and charges nothing', async (t) => {
    const all = await withDatabase(t, 'payment.md', 'crash')
    if (all === undefined) return
    const [first, second] = startTwo(all.here, all.url)
    const urls = await Promise.all([first!, second!].map(urlOf))
    const [database, other] = [await all.open(), await all.open()]
    await database.query('BEGIN')
    await database.query('LOCK TABLE payment IN ACCESS EXCLUSIVE MODE')
    const lost = assert.rejects(pay(urls[0]!, 'order-7'))
    await soon(async () => {
      const { rows } = await other.query(
        `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INSERT INTO payment%'`,
      )
      return rows.length === 1
    })
    first!.kill('SIGKILL')
    await lost
    // Nobody hears the answer, but the server does what it was sent.
    await database.query('COMMIT')
    await soon(async () => (await balanceOf(other)) === 90)
    assert.equal(await payUntilAnswered(urls[1]!, 'order-7'), '201 {"payment":"order-7","amount":10}')
    assert.equal(await balanceOf(other), 90)
  })

  void test('an unknown account, too little money → 404, 402, and no payment', async (t) => {
    const all = await withDatabase(t, 'payment.md', 'refused')
    if (all === undefined) return
    const url = await urlOf(all.here.start('payments.mjs', [], { PORT: '0', DATABASE_URL: all.url }))
    const database = await all.open()
    assert.match(await payUntilAnswered(url, 'order-7', 10, 'eve'), /^404 /)
    assert.match(await payUntilAnswered(url, 'order-7', 101), /^402 /)
    assert.match(await payUntilAnswered(url, 'order-8', 2e9), /^400 /)
    assert.deepEqual((await database.query('SELECT * FROM payment')).rows, [])
    assert.equal(await balanceOf(database), 100)
  })

  void test('Redis lost the key → the same payment gets its answer again, another amount 422; charged once', async (t) => {
    const all = await withDatabase(t, 'payment.md', 'lost')
    if (all === undefined) return
    const url = await urlOf(all.here.start('payments.mjs', [], { PORT: '0', DATABASE_URL: all.url }))
    const database = await all.open()
    const redis = new Redis(all.here.server.url)
    t.after(() => {
      redis.disconnect()
    })
    const first = await payUntilAnswered(url, 'order-7')
    await redis.flushall()
    assert.equal(await payUntilAnswered(url, 'order-7'), first)
    await redis.flushall()
    assert.match(await payUntilAnswered(url, 'order-7', 20), /^422 .*the key of another payment/)
    assert.equal(await balanceOf(database), 90)
  })

  void test('PostgreSQL cuts idle connections → the process lives, and charges', async (t) => {
    const all = await withDatabase(t, 'payment.md', 'cut')
    if (all === undefined) return
    const running = all.here.start('payments.mjs', [], { PORT: '0', DATABASE_URL: all.url })
    const url = await urlOf(running)
    const database = await all.open()
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'cut' AND pid <> pg_backend_pid()`
    assert.ok((await database.query(cut)).rows.length > 0)
    await running.said(/terminating connection/)
    assert.match(await payUntilAnswered(url, 'order-7'), /^201 /)
  })

  const write = async ({ folder }: Recipe, migrations: Readonly<Record<string, string>>): Promise<void> => {
    await mkdir(join(folder, 'migrations'))
    for (const [name, sql] of Object.entries(migrations)) await writeFile(join(folder, 'migrations', name), sql)
  }

  const startThree = (here: Recipe, url: string): Running[] =>
    [1, 2, 3].map(() => here.start('migrate.mjs', [], { DATABASE_URL: url }))

  void test('three pods, one dies in the middle of a file → another goes on there, each file is applied once', async (t) => {
    const all = await withDatabase(t, 'migration.md', 'pods')
    if (all === undefined) return
    const { here } = all
    const [database, other] = [await all.open(), await all.open()]
    await write(here, {
      '001.sql': 'CREATE TABLE visit (id serial, file text); INSERT INTO visit (file) VALUES (1)',
      '002.sql': 'INSERT INTO visit (file) VALUES (2); INSERT INTO gate VALUES (1)',
      '003.sql': 'INSERT INTO visit (file) VALUES (3)',
    })
    await database.query('CREATE TABLE gate (id int)')
    await database.query('BEGIN')
    await database.query('LOCK TABLE gate IN ACCESS EXCLUSIVE MODE')
    const pods = startThree(here, all.url)
    const dead = await firstToSay(pods, /applying 002.sql/)
    const waiting = async (): Promise<number> => (await here.client.lock('migrate:shop').inspect()).waiting.length
    await soon(async () => (await waiting()) === 2)
    const rest = pods.filter((pod) => pod !== dead)
    assert.equal(count(rest, /applying|up to date/), 0, 'the others wait')
    dead.kill('SIGKILL')
    await dead.ended
    await database.query('COMMIT')
    await allWell(rest)
    assert.equal(count(pods, /applying 001.sql/), 1)
    assert.equal(count(rest, /applying 002.sql/), 1)
    assert.equal(count(rest, /applying 003.sql/), 1)
    assert.equal(count(rest, /up to date/), 2)
    const { rows } = await other.query('SELECT file FROM visit ORDER BY file')
    assert.deepEqual(
      rows.map(({ file }) => file),
      ['1', '2', '3'],
    )
  })

  void test('a file fails → code 1 for each pod, nothing of it stays; mended, the next start applies it', async (t) => {
    const all = await withDatabase(t, 'migration.md', 'wrong')
    if (all === undefined) return
    const { here } = all
    await write(here, { '001.sql': 'CREATE TABLE half (id int); SELECT wrong' })
    const pods = startThree(here, all.url)
    for (const pod of pods) assert.deepEqual(await pod.ended, { code: 1, signal: null })
    const database = await all.open()
    assert.deepEqual((await database.query('SELECT name FROM migration')).rows, [])
    await writeFile(join(here.folder, 'migrations/001.sql'), 'CREATE TABLE half (id int)')
    await allWell([here.start('migrate.mjs', [], { DATABASE_URL: all.url })])
    assert.deepEqual((await database.query('SELECT name FROM migration')).rows, [{ name: '001.sql' }])
  })
})
