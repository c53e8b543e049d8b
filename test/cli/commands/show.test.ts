import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { admit, APP_LINE } from '../../support/acl.js'
import { HIDDEN } from '../../support/hostile.js'
import { freePort } from '../../support/redis-server.js'
import { onServer } from '../../support/server.js'
import { holdfast, linesOf } from './stage.js'

const THEIRS = '00000000-0000-4000-8000-000000000000:55'

void describe('holdfast show', () => {
  onServer(
    'a lock that others wait for → its holder, the line in order, no command that releases a healthy one',
    async (broken) => {
      const [one, two, three] = [
        await broken.open({ label: 'web-1' }),
        await broken.open({ label: 'web-2' }),
        await broken.open({ label: 'web-3' }),
      ]
      await one.fairLock('orders').acquire()
      two
        .fairLock('orders')
        .acquire()
        .catch(() => undefined)
      await broken.until(async () => (await one.fairLock('orders').inspect()).waiting.length === 1)
      three
        .fairLock('orders')
        .acquire()
        .catch(() => undefined)
      await broken.until(async () => (await one.fairLock('orders').inspect()).waiting.length === 2)
      await sleep(2000)
      const owner = (await one.fairLock('orders').inspect()).holders[0]?.owner ?? assert.fail()
      const { code, out, error } = await holdfast(['show', 'orders'], { url: broken.server.url })
      assert.deepEqual([code, error], [0, ''])
      assert.match(
        out,
        new RegExp(
          `^orders \\(fairLock\\)\n {2}held by {2}web-1, for \\d+s\n {11}owner ${owner}\n {11}alive \\d+m?s ago: it writes its label every 10s\n {2}lease {4}ends in [12]\\ds, unless it is renewed\n` +
            ` {2}waiting {2}1\\. web-2, for \\d+s\n {11}2\\. web-3, for \\d+s\n\nThe client is alive, [^]+ look at that\nprocess first[^]+--owner\\.\n$`,
        ),
      )
    },
  )

  onServer(
    'each kind, just acquired → found at once, without waiting for the index',
    async ({ open, server, redis }) => {
      const client = await open({ label: 'web-1' })
      await client.fencedLock('fenced').acquire()
      await client.readWriteLock('read').read.acquire()
      await client.readWriteLock('write').write.acquire()
      await client.spinLock('spin').acquire({ lease: 3_600_000 })
      const owner = client.owner()
      await client.lock('twice').acquire({ owner })
      await client.lock('twice').acquire({ owner })
      const said = async (name: string): Promise<string> => (await holdfast(['show', name], { url: server.url })).out
      assert.match(await said('fenced'), /^fenced \(fencedLock\)\n {2}held by {2}web-1[^]* {2}token {4}1\n/)
      assert.match(await said('read'), /^read \(readWriteLock\)\n {2}held by {2}web-1, reads/)
      assert.match(await said('write'), /^write \(readWriteLock\)\n {2}held by {2}web-1, writes[^]*:write\n/)
      assert.match(await said('spin'), /^spin \((spinLock|lock)\)\n {2}held by {2}web-1/)
      assert.match(await said('twice'), /held by {2}web-1, acquired 2 times/)
      await redis.persist('spin')
      const elsewhere = async (...args: string[]): Promise<string> =>
        linesOf((await holdfast(['show', 'spin', ...args], { url: 'redis://127.0.0.1:1' })).out).at(-1) ?? ''
      assert.ok((await elsewhere('--url', server.url)).includes(` --url ${server.url} --owner `))
      const secret = await elsewhere('--url', server.url.replace('//', '//default:secret@'))
      assert.match(secret, /^ {2}holdfast unlock --url URL --owner /, 'no password')
    },
  )

  onServer(
    'a keyed lock → its keys; a lock of Redisson → its owner; one that never expires → so it says',
    async (broken) => {
      const { redis, server } = broken
      const client = await broken.open({ label: 'web-1' })
      await client.keyedLock('group', ['a', 'b']).acquire()
      await redis.hset('theirs', THEIRS, 1)
      await sleep(2000)
      const group = await holdfast(['show', 'group'], { url: server.url })
      assert.match(group.out, /^group \(keyedLock\)\n {2}held by {2}web-1, keys a, b, for \ds\n/)
      const theirs = await holdfast(['show', 'theirs'], { url: server.url })
      assert.match(theirs.out, new RegExp(`held by {2}client ${THEIRS.slice(0, 36)}\n {11}owner ${THEIRS}\n`))
      assert.match(
        theirs.out,
        /lease {4}has no end[^]*Otherwise it stays\nlocked until somebody releases it:\n {2}holdfast unlock /,
      )
    },
  )

  onServer('a holder whose client ended, is late, or cannot be told → what is known, and no more', async (broken) => {
    const { open, redis, server, until } = broken
    const { url } = server
    const said = async (name: string): Promise<string> => (await holdfast(['show', name], { url })).out
    const client = await open({ label: 'web-1', watchdog: 3_600_000 })
    await client.lock('long').acquire({ lease: 7_200_000 })
    await client.lock('short').acquire({ lease: 1_200_000 })
    await until(async () => (await redis.hlen(`holdfast:client:${client.id}:locks`)) === 2)
    assert.match(
      await said('long'),
      /alive \d+m?s ago: it writes its label every 20m00s\n[^]*1h5\dm: the code set this lease\. A fixed one is not renewed/,
    )
    assert.match(
      await said('short'),
      /alive \d+m?s ago[^]*ends in 1[5-9]m\d\ds: the code set a lease of its own, unless the client is late/,
    )
    assert.doesNotMatch(await said('long'), /holdfast unlock --owner \S{36}:/)
    const label = `holdfast:client:${client.id}`
    await redis.pexpire(label, 300_000)
    const late = await said('long')
    assert.match(late, /silent for 5[5-9]m\d\ds; a live client writes its label every 20m00s/)
    assert.match(late, /\n {2}holdfast unlock --owner \S+ long\n$/)
    await redis.pexpire(label, 3_000_000)
    assert.match(await said('long'), /alive 1\dm\d\ds ago/)
    await redis.persist(label)
    assert.match(await said('long'), /\n {11}has a label\n[^]*Show the lock again in/)
    await redis.set(label, 'x', 'PX', 300_000)
    assert.match(await said('long'), /its label cannot be read: nothing shows if it is alive/)
    await redis.del(label)
    assert.match(
      await said('long'),
      /silent: its label has expired[^]*a client that is silent renews nothing[^]*holdfast unlock --owner/,
    )
    const quiet = await open({ presence: false })
    await quiet.lock('quiet').acquire({ lease: 3_600_000 })
    const unlabelled = await said('quiet')
    assert.match(unlabelled, /no label: the client is gone, or it never wrote one[^]*Show the lock again in/)
    assert.match(
      unlabelled.replaceAll('\n', ' '),
      /Show the lock again in (29m\d\ds|30m00s)\. If clearly more than \1 is left/,
    )
    assert.doesNotMatch(unlabelled, /holdfast unlock --owner \S{36}:/)
    await redis.hset('theirs', THEIRS, 1)
    await redis.pexpire('theirs', 20_000)
    const theirs = await said('theirs')
    assert.match(theirs, /a client of Redisson, thread 55: nothing shows if it is alive[^]*Show the lock again in/)
    assert.doesNotMatch(theirs, /holdfast unlock --owner \S{36}:/)
  })

  onServer(
    'a pattern, or a part of a name → what the user may have meant, and 1',
    async ({ open, server: { url } }) => {
      const client = await open()
      for (const name of ['billing:invoice-run', 'billing:invoice[1]', 'other']) await client.lock(name).acquire()
      await sleep(2500)
      const said = async (name: string): Promise<string> => {
        const { code, out, error } = await holdfast(['show', name], { url })
        assert.deepEqual([code, out], [1, ''])
        return error
      }
      const none = (name: string): string => `holdfast: no lock '${name}' is held or waited for`
      assert.equal(await said('invoice-run'), `${none('invoice-run')}; names that contain it: 'billing:invoice-run'\n`)
      assert.equal(await said('[1]'), `${none('[1]')}; names that contain it: 'billing:invoice[1]'\n`)
      assert.equal(
        await said('bill*'),
        `${none('bill*')}; show takes one name: for a pattern, use holdfast ls 'bill*'\n`,
      )
      assert.equal(await said('nothing'), `${none('nothing')}\n`)
    },
  )

  test('no URL → 78, and how to say which server; nothing about memory:', async () => {
    const { code, error } = await holdfast(['show', 'a'])
    assert.equal(code, 78)
    assert.match(error, /^holdfast: no server to connect to: set HOLDFAST_URL or REDIS_URL, or pass --url /)
    assert.doesNotMatch(error, /memory/)
  })

  onServer('waited for as two kinds → both; --kind → that one; --json → as ls prints it', async (broken) => {
    const [one, two] = [await broken.open(), await broken.open()]
    await one.lock('both').acquire()
    two
      .lock('both')
      .acquire()
      .catch(() => undefined)
    two
      .fairLock('both')
      .acquire()
      .catch(() => undefined)
    await sleep(2500)
    const { url } = broken.server
    const { out } = await holdfast(['show', 'both'], { url })
    assert.match(out, /^both \(fairLock\)[^]*\n\nboth \(lock\)|^both \(lock\)[^]*\n\nboth \(fairLock\)/)
    const lines = linesOf((await holdfast(['show', 'both', '--json'], { url })).out)
    assert.deepEqual(lines.map((line) => (JSON.parse(line) as { kind: string }).kind).sort(), ['fairLock', 'lock'])
    assert.equal(linesOf((await holdfast(['show', 'both', '--json', '--kind', 'lock'], { url })).out).length, 1)
  })

  onServer(
    'a hostile name, label and owner → plain lines, and a command that reaches that very lock',
    async (broken) => {
      const name = "-a\u001b[2J\n'b' $(touch x)\u202e"
      const client = await broken.open({ label: 'evil\u001b[2J\nheld by nobody' })
      await client.lock(name).acquire({ lease: 3_600_000 })
      await broken.redis.persist(name)
      await broken.redis.hset('odd', `x\u001b[2J:1`, 1)
      const { url } = broken.server
      const shown = await holdfast(['show', '--', name], { url })
      assert.equal(shown.code, 0, shown.error)
      for (const line of linesOf(shown.out)) assert.doesNotMatch(line, HIDDEN)
      assert.ok(!linesOf(shown.out).includes('held by nobody'))
      const command = linesOf(shown.out).at(-1)?.trim() ?? ''
      assert.match(command, /^holdfast unlock --owner \S+ -- \$'/)
      assert.equal((await holdfast(['show', 'odd'], { url })).code, 1, 'no client has such an owner')
    },
  )

  onServer('a held fenced lock whose counter another program changed → show, ls and unlock work', async (broken) => {
    const { open, redis, server, until } = broken
    const { url } = server
    const client = await open({ label: 'web-1' })
    const texts = { x: '-5', y: '', z: 'a list' }
    for (const name of Object.keys(texts)) await client.fencedLock(name).acquire()
    await until(async () => (await redis.hlen(`holdfast:client:${client.id}:locks`)) === 3)
    for (const [name, text] of Object.entries(texts)) {
      const counter = `redisson_lock_token:{${name}}`
      await redis.del(counter)
      await (text === 'a list' ? redis.rpush(counter, '1') : redis.set(counter, text))
      const shown = await holdfast(['show', name], { url })
      assert.match(shown.out, new RegExp(`^${name} \\(fencedLock\\)\n {2}held by {2}web-1`), shown.error)
      assert.doesNotMatch(shown.out, /\n {2}token/)
      assert.match((await holdfast(['ls', name, '-o', 'NAME,LABEL'], { url })).out, /\n[xyz] +web-1\n/)
      const owner = (await client.fencedLock(name).inspect()).holders[0]?.owner ?? assert.fail()
      const unlocked = await holdfast(['unlock', name, '--owner', owner], { url })
      assert.deepEqual([unlocked.code, unlocked.error], [0, ''])
      assert.equal(await redis.exists(name), 0)
    }
  })

  onServer(
    'a semaphore that calls wait for → its permits and its line in show, ls and tree; unlock → 1',
    async (broken) => {
      const [one, two] = [await broken.open({ label: 'web-1' }), await broken.open({ label: 'web-2' })]
      const permits = one.permitSemaphore('exports')
      await permits.trySetPermits(3)
      await permits.acquireMany(2)
      two
        .permitSemaphore('exports')
        .acquireMany(2)
        .catch(() => undefined)
      await sleep(2500)
      const { url } = broken.server
      const { code, out, error } = await holdfast(['show', 'exports'], { url })
      assert.deepEqual([code, error], [0, ''])
      assert.match(
        out,
        /^exports \(permitSemaphore\)\n {2}permits {2}1 of 3 available\n {2}waiting {2}1\. web-2, for \d+s\n$/,
      )
      const {
        available,
        permits: count,
        holders,
      } = JSON.parse((await holdfast(['show', 'exports', '--json'], { url })).out) as Record<string, unknown>
      assert.deepEqual([available, count, holders], [1, 3, []])
      const ls = await holdfast(['ls', '--kind', 'permitSemaphore', '-o', 'NAME,PERMITS,WAITING'], { url })
      assert.deepEqual(linesOf(ls.out)[1]?.trim().split(/ +/), ['exports', '1/3', '1'])
      assert.match(
        (await holdfast(['tree'], { url })).out,
        /^exports \(permitSemaphore\), 1 of 3 available\n└─ web-2, for \d+s\n$/,
      )
      const unlock = await holdfast(['unlock', 'exports', '--force', '--yes'], { url })
      assert.deepEqual([unlock.code, unlock.error], [1, "holdfast: no lock 'exports' is held\n"])
      assert.equal((await holdfast(['watch', '--kind', 'semaphore'], { url })).code, 64)
    },
  )

  onServer('free, or another program’s key → 1; a name that cannot be one → 64', async ({ redis, server: { url } }) => {
    await redis.set('text', 'x')
    for (const name of ['free', 'text']) {
      const { code, out, error } = await holdfast(['show', name], { url })
      assert.deepEqual([code, out], [1, ''])
      assert.equal(error, `holdfast: no lock '${name}' is held or waited for\n`)
    }
    assert.equal((await holdfast(['show', 'x'.repeat(70_000)], { url })).code, 64)
  })

  onServer('a user who may not read this lock → 77, also for unlock: it does not look free', async (broken) => {
    const { redis, server, open } = broken
    const client = await open()
    await client.lock('other').acquire()
    await client.lock('app:l').acquire()
    const url = `redis://${await admit(redis, APP_LINE, 'secret-of-a-test')}@127.0.0.1:${server.port}`
    for (const args of [
      ['show', 'other'],
      ['unlock', 'other', '--force', '--yes'],
    ]) {
      const { code, out, error } = await holdfast(args, { url })
      assert.deepEqual([code, out], [77, ''])
      assert.match(error, /^holdfast: [^\n]*(NOPERM|permission)[^\n]*\n$/)
    }
    assert.match((await holdfast(['show', 'app:l'], { url })).out, /^app:l \(lock\)/)
    assert.equal((await holdfast(['show', 'app:free'], { url })).code, 1)
  })

  test('no name, or two → 64 and the usage; no server → 69', { timeout: 60_000 }, async () => {
    const url = `redis://127.0.0.1:${await freePort()}`
    for (const args of [[], [''], ['a', 'b'], ['a', '--owner', 'x']]) {
      const { code, out, error } = await holdfast(['show', ...args], { url })
      assert.deepEqual([code, out], [64, ''])
      assert.match(error, /^holdfast: [^\n]+\n\nUsage: holdfast show NAME/)
    }
    assert.equal((await holdfast(['show', 'a'], { url })).code, 69)
  })
})
