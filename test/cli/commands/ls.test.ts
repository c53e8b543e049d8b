import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { widthOf } from '#src/cli/text/width.js'
import { admit, READER_LINE } from '../../support/acl.js'
import { HIDDEN, STRANGE_NAMES } from '../../support/hostile.js'
import { freePort } from '../../support/redis-server.js'
import { type Broken, onServer } from '../../support/server.js'
import { holdfast, linesOf, MAIN, TERMINAL } from './stage.js'

const THEIRS = '00000000-0000-4000-8000-000000000000:55'
/** After this time, what is held is in the index. */
const PUBLISHED = 2000

/** One lock of each sort: held alone, waited for, read by two, of a group, and one whose lease has no end. */
const town = async ({ open, redis }: Broken): Promise<void> => {
  const [one, two] = [await open({ label: 'web-1' }), await open({ label: 'web-2' })]
  await one.lock('alone').acquire()
  await one.fairLock('busy').acquire()
  two
    .fairLock('busy')
    .acquire()
    .catch(() => undefined)
  await one.readWriteLock('book').read.acquire()
  await two.readWriteLock('book').read.acquire()
  await one.keyedLock('group', ['a', 'b']).acquire()
  // Its client does not renew it, so the lease has no end however long the test takes.
  await two.fencedLock('stuck').acquire({ lease: 3_600_000 })
  await redis.persist('stuck')
  await sleep(PUBLISHED)
}

const cells = (line: string): string[] => line.split(/ {2,}/)

void describe('holdfast ls', () => {
  onServer('the locks, a line each, with their holders and how many wait', async (broken) => {
    await town(broken)
    const { url } = broken.server
    const { code, out, error } = await holdfast(['ls'], { url })
    assert.deepEqual([code, error], [0, ''])
    assert.deepEqual(cells(linesOf(out)[0] ?? ''), ['NAME', 'KIND', 'HOLDER', 'LABEL', 'AGE', 'LEFT', 'WAITING'])
    const rows = linesOf(out).slice(1).map(cells)
    assert.deepEqual(
      rows.map(([name, kind, , label, , , waiting]) => [name, kind, label, waiting]),
      [
        ['alone', 'lock', 'web-1', '0'],
        ['book', 'readWriteLock', rows[1]?.[3], '0'],
        ['busy', 'fairLock', 'web-1', '1'],
        ['group', 'keyedLock', 'web-1', '0'],
        ['stuck', 'fencedLock', 'web-2', '0'],
      ],
    )
    assert.match(rows[1]?.[2] ?? '', /^[\da-f]{8} \+1$/)
    for (const [, , , , age = ''] of rows) assert.match(age, /^([2-9]|[1-5]\d)s$/)
    assert.match(rows[0]?.[5] ?? '', /^2\ds$/)
    assert.equal(rows[4]?.[5], 'never')
    // The clients' clocks are the server's here, and nothing was written by looking.
    assert.equal(await broken.redis.exists('holdfast:client:register'), 1)
    assert.equal((await broken.redis.keys('holdfast:client:*-*')).filter((key) => !key.endsWith(':locks')).length, 2)
  })

  onServer('--blocked, --kind, a pattern, -o → only these', async (broken) => {
    await town(broken)
    const names = async (...args: string[]): Promise<string[]> =>
      linesOf((await holdfast(['ls', '-o', 'name', ...args], { url: broken.server.url })).out).slice(1)
    assert.deepEqual(await names('--blocked'), ['busy'])
    assert.deepEqual(await names('--kind', 'keyedLock'), ['group'])
    assert.deepEqual(await names('b*'), ['book', 'busy'])
    assert.deepEqual(await names('b*', '--kind', 'lock'), [])
    const all = 'name,kind,holder,label,age,left,waiting,waited,owner,client,mode,count,holders,token,key'
    const { out } = await holdfast(['ls', 'stuck', '-o', all], { url: broken.server.url })
    const [titles = '', row = ''] = linesOf(out)
    assert.deepEqual(
      cells(titles)
        .map((title) => title.toLowerCase())
        .join(),
      all,
    )
    const [, , , , , , , , owner = '', client = '', ...rest] = cells(row)
    assert.ok(owner.startsWith(`${client}:`))
    assert.deepEqual(rest, ['exclusive', '1', '1', '1', 'stuck'])
    assert.match(
      linesOf((await holdfast(['ls', '-o', '+key'], { url: broken.server.url })).out)[0] ?? '',
      /WAITING {2}KEY$/,
    )
    const headOf = async (...args: string[]): Promise<string> =>
      linesOf((await holdfast(['ls', '--blocked', ...args], { url: broken.server.url })).out)[0] ?? ''
    assert.match(await headOf(), /WAITING {2}WAITED {2}WAITER$/)
    const busy = await holdfast(['ls', '--blocked', '-o', 'WAITER'], { url: broken.server.url })
    assert.match(busy.out, /^WAITER\nweb-2\n$/)
    assert.match(await headOf('-o', '+waited,key'), /WAITING {2}WAITED {2}WAITER {2}KEY$/, 'each once')
    assert.deepEqual(await names('--sort', 'waiting'), ['busy', 'alone', 'book', 'group', 'stuck'])
    assert.deepEqual(await names('--sort', 'name'), ['alone', 'book', 'busy', 'group', 'stuck'])
    const json = await holdfast(['ls', '--json', '--sort', 'WAITED'], { url: broken.server.url })
    assert.equal((JSON.parse(linesOf(json.out)[0] ?? '') as { name: string }).name, 'busy')
    const wrong = await holdfast(['ls', '--sort', 'colour'], { url: broken.server.url })
    assert.deepEqual([wrong.code, wrong.error.includes('--sort must be one of WAITED')], [64, true])
  })

  onServer('--json → the documented fields, always all of them', async (broken) => {
    await town(broken)
    const { code, out } = await holdfast(['ls', '--json'], { url: broken.server.url })
    assert.equal(code, 0)
    const rows = linesOf(out).map((line) => JSON.parse(line) as Record<string, unknown>)
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['alone', 'book', 'busy', 'group', 'stuck'],
    )
    for (const row of rows)
      assert.deepEqual(Object.keys(row), [
        'name',
        'key',
        'kind',
        'holders',
        'waiting',
        'more',
        'remaining',
        'token',
        'available',
        'permits',
      ])
    const [alone, book, busy, group, stuck] = rows as Record<string, Record<string, unknown>[]>[]
    const [holder] = alone?.['holders'] ?? []
    assert.deepEqual(Object.keys(holder ?? {}), [
      ...['owner', 'client', 'label', 'labelUnknown', 'since', 'age', 'keys', 'mode', 'count'],
      'waitsFor',
    ])
    assert.equal(holder?.['waitsFor'], null)
    assert.ok(Number(holder?.['age']) >= 1900 && Number(holder?.['age']) < 10_000)
    assert.equal(book?.['holders']?.length, 2)
    assert.deepEqual(Object.keys(busy?.['waiting']?.[0] ?? {}), [
      'owner',
      'client',
      'label',
      'labelUnknown',
      'since',
      'age',
      'keys',
      'silent',
    ])
    assert.equal(busy?.['waiting']?.[0]?.['silent'], false)
    assert.deepEqual(group?.['holders']?.[0]?.['keys'], ['a', 'b'])
    assert.deepEqual([stuck?.['remaining'], stuck?.['token'], alone?.['token']], [-1, '1', null])
  })

  onServer('--client, --label → what these clients hold and wait for, and which of the two', async (broken) => {
    const [one, two] = [await broken.open({ label: 'web-1' }), await broken.open({ label: 'web-2' })]
    await one.lock('a').acquire()
    await two.lock('b').acquire()
    await one.readWriteLock('c').read.acquire()
    await two.readWriteLock('c').read.acquire()
    two
      .lock('a')
      .acquire()
      .catch(() => undefined)
    await broken.until(async () => (await one.lock('a').inspect()).waiting.length === 1)
    await sleep(2500)
    const { url } = broken.server
    const rows = async (...args: string[]): Promise<string[]> => {
      const { code, out, error } = await holdfast(['ls', '-o', 'NAME,DOES', ...args], { url })
      assert.deepEqual([code, error], [0, ''])
      return linesOf(out)
        .slice(1)
        .map((line) => line.trim().replace(/ {2,}/, ': '))
    }
    const ofTwo = ['a: waits', 'b: holds', 'c: holds']
    assert.deepEqual(await rows('--client', two.id), ofTwo)
    assert.deepEqual(await rows('--client', two.id.slice(0, 8)), ofTwo)
    assert.deepEqual(await rows('--label', 'web-2'), ofTwo)
    assert.deepEqual(await rows('--label', 'web-*'), ['a: holds (web-1), waits (web-2)', 'b: holds', 'c: holds'])
    assert.deepEqual(await rows('--label', 'web-2', '--client', one.id), [])
    assert.deepEqual(await rows('--client', two.id, '--blocked'), ['a: waits'])
    assert.deepEqual(await rows(), ['a: -', 'b: -', 'c: -'])
    // Its process has been silent for long.
    const dead = '00000000-0000-8000-8000-000000000000'
    await broken.redis.rpush('holdfast_line:{b}', `${dead}:1`)
    await broken.redis.zadd('holdfast_line_due:{b}', Date.now() - 60_000, `${dead}:1`)
    assert.match((await holdfast(['show', 'b'], { url })).out, /silent, holds nobody up/)
    assert.deepEqual(await rows('--client', dead), [])
    const { out } = await holdfast(['ls', '--client', two.id], { url })
    assert.match(out, /^NAME +KIND +DOES +HOLDER +LABEL +AGE +LEFT +WAITING\n/)
    const json = linesOf((await holdfast(['ls', '--json', '--client', one.id], { url })).out)
    assert.deepEqual(
      json.map((line) => (JSON.parse(line) as { name: string }).name),
      ['a', 'c'],
    )
    for (const args of [
      ['--client', two.id.slice(0, 7)],
      ['--client', ''],
      ['--label', ''],
    ])
      assert.equal((await holdfast(['ls', ...args], { url })).code, 64)
  })

  onServer('hostile and wide names and labels → plain lines, one each; exact in JSON', async (broken) => {
    // Longer ones are in no index.
    const names = [...STRANGE_NAMES.filter((name) => name.length < 10_000), 'x'.repeat(2000)]
    const wide = ['日本語の鍵', '🔒🔑', 'ne\u0301']
    const client = await broken.open({ label: 'evil\u001b[2J\nweb-9\u202e' })
    for (const name of [...names, ...wide]) await client.lock(name).acquire()
    await sleep(PUBLISHED)
    const { url } = broken.server
    const { out } = await holdfast(['ls'], { url })
    const lines = linesOf(out)
    assert.equal(lines.length, 1 + names.length + wide.length)
    for (const line of lines) assert.doesNotMatch(line, HIDDEN)
    // Every name is followed by the kind, at the same column.
    const widths = lines.slice(1).map((line) => widthOf(/^.*? (?=lock {2,}[\da-f]{8} )/.exec(line)?.[0] ?? ''))
    assert.equal(new Set(widths).size, 1, widths.join())
    const told = linesOf((await holdfast(['ls', '--json'], { url })).out)
    for (const line of told) assert.doesNotMatch(line, HIDDEN)
    const exact = told.map((line) => JSON.parse(line) as { name: string; holders: { label: string }[] })
    assert.deepEqual(exact.map(({ name }) => name).sort(), [...names, ...wide].sort())
    assert.equal(exact[0]?.holders[0]?.label, 'evil\u001b[2J\nweb-9\u202e')
  })

  if (TERMINAL)
    onServer('a terminal → no line is wider, no colours; a scan shows how far it is', async (broken) => {
      const client = await broken.open({ label: 'web-1'.repeat(20) })
      await client.lock('n'.repeat(200)).acquire()
      await client.lock('日'.repeat(60)).acquire()
      await sleep(PUBLISHED)
      for (const columns of [40, 80, 200]) {
        const { out, code } = await holdfast(['ls'], { url: broken.server.url, columns })
        assert.equal(code, 0)
        assert.equal(linesOf(out).length, 3, out)
        for (const line of linesOf(out)) assert.ok(widthOf(line) <= columns, line)
        assert.ok(!out.includes('\u001b'), 'no colours')
      }
      const { out } = await holdfast(['ls', '--scan'], { url: broken.server.url, columns: 80 })
      assert.match(out, /looked at [\d,]+ of [\d,]+ keys/)
      const other = await broken.open()
      other
        .lock('n'.repeat(200))
        .acquire()
        .catch(() => undefined)
      await sleep(2500)
      const counted = linesOf((await holdfast(['ls'], { url: broken.server.url, columns: 80 })).out)
      assert.equal(counted.at(-1), 'holdfast: 2 rows, 1 blocked: --blocked shows only those')
      const whole = await holdfast(['ls', 'nnn'], { url: broken.server.url, columns: 80 })
      assert.match(whole.out, /PATTERN is the whole name, unless it has a \*: try '\*nnn\*'/)
      const none = await holdfast(['ls', 'no*'], { url: broken.server.url, columns: 80 })
      assert.match(none.out, /--scan also finds others/)
      assert.equal(none.code, 0)
    })

  onServer('--scan → also a lock of Redisson; a user who may only read is enough', async ({ redis, server, open }) => {
    await redis.hset('theirs', THEIRS, 1)
    await redis.pexpire('theirs', 60_000)
    await (await open()).lock('ours').acquire()
    await sleep(PUBLISHED)
    const url = `redis://${await admit(redis, READER_LINE, 'secret-of-a-test')}@127.0.0.1:${server.port}`
    await redis.call('ACL', 'SETUSER', 'holdfast-reader', '-scan')
    const listed = await holdfast(['ls', '-o', 'NAME,HOLDER,LABEL,AGE'], { url })
    assert.deepEqual([listed.code, linesOf(listed.out).length], [0, 2], listed.error)
    const refused = await holdfast(['ls', '--scan'], { url })
    assert.equal(refused.code, 77, refused.error)
    await redis.call('ACL', 'SETUSER', 'holdfast-reader', '+scan')
    const { code, out, error } = await holdfast(['ls', '--scan', '-o', 'NAME,HOLDER,LABEL,AGE'], { url })
    assert.deepEqual([code, error], [0, ''])
    assert.deepEqual(cells(linesOf(out)[2] ?? ''), ['theirs', '00000000', '-', '-'])
  })

  onServer('--blocked → only waits of more than a second, also with --scan', async (broken) => {
    const [one, two] = [await broken.open(), await broken.open({ label: 'web-2' })]
    await one.lock('stuck').acquire()
    two
      .lock('stuck')
      .acquire()
      .catch(() => undefined)
    await sleep(2500)
    const names = async (...args: string[]): Promise<string[]> =>
      linesOf((await holdfast(['ls', '-o', 'NAME', ...args], { url: broken.server.url })).out).slice(1)
    // As of a lock that changes hands all the time: its waiter has published nothing yet.
    await one.lock('busy').acquire()
    const late = await broken.open({ label: 'web-3' })
    late
      .lock('busy')
      .acquire()
      .catch(() => undefined)
    await broken.until(async () => (await one.lock('busy').inspect()).waiting.length === 1)
    await sleep(2500)
    const index = `holdfast:client:${late.id}:locks`
    /** While it says nothing of its wait. It may write that again at any moment. */
    const unsaid = async (...args: string[]): Promise<string[]> => {
      for (;;) {
        await broken.redis.del(index)
        const found = await names(...args)
        if ((await broken.redis.exists(index)) === 0) return found
      }
    }
    assert.deepEqual(await unsaid('--scan', '--blocked'), ['stuck'])
    assert.deepEqual(await unsaid('--blocked'), ['stuck'])
    assert.deepEqual((await names('--scan')).sort(), ['busy', 'stuck'])
  })

  onServer('a clock of this machine that is wrong → ages by the server’s', async ({ open, server }) => {
    await (await open()).lock('a').acquire()
    await sleep(PUBLISHED)
    const bomb = `data:text/javascript,${encodeURIComponent('const now = Date.now; Date.now = () => now() + 7_200_000')}`
    const { out } = await holdfast(['ls', '-o', 'AGE'], { url: server.url, env: { NODE_OPTIONS: `--import=${bomb}` } })
    assert.match(linesOf(out)[1] ?? '', /^ *[1-9]s$/)
  })

  onServer('the reader of the pipe leaves → no error', async ({ open, server }) => {
    const client = await open()
    for (let i = 0; i < 300; i++) await client.lock(`lock:${i}:${'x'.repeat(500)}`).acquire()
    await sleep(PUBLISHED)
    const line = `"$0" "$1" ls | head -1; echo "\${PIPESTATUS[0]}"`
    const env = { ...process.env, HOLDFAST_URL: server.url }
    const out = execFileSync('bash', ['-c', line, process.execPath, MAIN], { env, encoding: 'utf8' })
    assert.match(out, /^NAME[^\n]*\n0\n$/)
  })

  test('the disk is full → 74, in one line', { skip: !existsSync('/dev/full') }, () => {
    const { status, stderr } = spawnSync('bash', ['-c', '"$0" "$@" >/dev/full', process.execPath, MAIN, 'help'])
    assert.equal(status, 74)
    assert.match(String(stderr), /^holdfast: cannot write the output: ENOSPC[^\n]*\n$/)
  })

  test('what is wrong → 64 and the usage; no server → 69', { timeout: 60_000 }, async () => {
    const url = `redis://127.0.0.1:${await freePort()}`
    for (const [args, says] of [
      [['a', 'b'], /one pattern/],
      [['-o', 'NAME,SIZE'], /there is no column "SIZE"; the columns are NAME, KIND/],
      [['--kind', 'mutex'], /--kind must be one of lock,/],
      [['--url', 'memory:'], /must name a server/],
      [['--url', ''], /--url must not be empty/],
    ] as const) {
      const { code, out, error } = await holdfast(['ls', ...args], { url })
      assert.deepEqual([code, out], [64, ''], args.join(' '))
      assert.match(error, says)
      assert.match(error, /\n\nUsage: holdfast ls \[PATTERN\]/)
    }
    const { code, error } = await holdfast(['ls'], { url })
    assert.equal(code, 69)
    assert.match(error, /^holdfast: [^\n]+\n$/)
  })
})
