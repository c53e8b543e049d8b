import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Lock } from 'holdfast'
import { admit, READER_LINE } from '../../support/acl.js'
import { type Broken, onServer } from '../../support/server.js'
import { holdfast, TERMINAL } from './stage.js'

const THEIRS = '00000000-0000-4000-8000-000000000000:55'

const KINDS: Readonly<Record<string, (client: Client) => Lock>> = {
  lock: (client) => client.lock('l'),
  nonReentrantLock: (client) => client.nonReentrantLock('l'),
  fairLock: (client) => client.fairLock('l'),
  nonReentrantFairLock: (client) => client.nonReentrantFairLock('l'),
  fencedLock: (client) => client.fencedLock('l'),
  spinLock: (client) => client.spinLock('l'),
  'readWriteLock.write': (client) => client.readWriteLock('l').write,
  'fairReadWriteLock.write': (client) => client.readWriteLock('l', { fair: true }).write,
  keyedLock: (client) => client.keyedLock('l', ['a', 'b']),
}

const ownerOf = async (lock: Lock): Promise<string> =>
  (await lock.inspect()).holders[0]?.owner ?? assert.fail('it is free')

/** One client holds the lock, another one waits. */
const contended = async ({ open }: Broken, make: (client: Client) => Lock) => {
  const [one, two] = [await open({ label: 'web-1' }), await open({ label: 'web-2' })]
  const hold = await make(one).acquire()
  const next = make(two).acquire()
  next.catch(() => undefined)
  // By now it is in the index, by which a keyed lock is found.
  await sleep(2000)
  return { one, two, hold, next, lock: make(two), owner: await ownerOf(make(one)) }
}

void describe('holdfast unlock', () => {
  for (const [kind, make] of Object.entries(KINDS))
    onServer(`${kind}: its owner → released, and the next waiter gets it at once`, async (broken) => {
      const { hold, next, owner } = await contended(broken, make)
      const { url } = broken.server
      const wrong = await holdfast(['unlock', 'l', '--owner', THEIRS], { url })
      assert.deepEqual([wrong.code, wrong.out], [1, ''])
      assert.equal(wrong.error, `holdfast: that owner does not hold 'l'; it is held by web-1 (owner ${owner})\n`)
      assert.equal(hold.lost, false)
      const { code, out, error } = await holdfast(['unlock', 'l', '--owner', owner], { url })
      assert.deepEqual([code, error], [0, ''])
      const [first, now] = out.split('; ')
      assert.equal(first, `released 'l', which was held by web-1 (owner ${owner})`)
      // A waiter of a spin lock stands in no line.
      const follows =
        kind === 'spinLock' ? /^now (held by web-2 \(owner \S+\)|free)\n$/ : /^now held by web-2 \(owner \S+\)\n$/
      assert.match(now ?? '', follows)
      const given = await Promise.race([next, sleep(3000)])
      assert.ok(given !== undefined, 'the next waiter has it')
      const again = await holdfast(['unlock', 'l', '--owner', owner], { url })
      assert.equal(again.code, 1, 'the next holder is another owner')
      assert.equal(given.lost, false)
    })

  onServer('a reader → the others go on reading; --force → all of them', async (broken) => {
    const [one, two] = [await broken.open({ label: 'web-1' }), await broken.open({ label: 'web-2' })]
    const { read } = one.readWriteLock('l')
    await read.acquire()
    const owner = await ownerOf(read)
    await two.readWriteLock('l').read.acquire()
    const { url } = broken.server
    assert.equal((await holdfast(['unlock', 'l', '--owner', owner], { url })).code, 0)
    assert.deepEqual(
      (await read.inspect()).holders.map(({ client }) => client),
      [two.id],
    )
    assert.deepEqual(await broken.redis.keys(`*${owner}*`), [], 'its keys are gone')
    await one.readWriteLock('l').read.acquire()
    assert.equal((await holdfast(['unlock', 'l', '--force', '--yes'], { url })).code, 0)
    assert.equal(await read.isLocked(), false)
  })

  onServer('a lock of Redisson, also re-entered and read → released', async ({ redis, server: { url } }) => {
    await redis.hset('plain', THEIRS, 3)
    await redis.hset('rw', 'mode', 'read', THEIRS, 2)
    for (const level of [1, 2]) await redis.set(`{rw}:${THEIRS}:rwlock_timeout:${level}`, '1', 'PX', 60_000)
    for (const key of ['plain', 'rw']) await redis.pexpire(key, 60_000)
    for (const name of ['plain', 'rw']) {
      const { code, error } = await holdfast(['unlock', name, '--owner', THEIRS], { url })
      assert.equal(code, 0, error)
      assert.equal(await redis.exists(name), 0)
    }
    assert.deepEqual(await redis.keys('*rwlock_timeout*'), [])
  })

  onServer('--force --yes → released, whatever the owner; the next waiter keeps it', async (broken) => {
    const { next, owner } = await contended(broken, (client) => client.fairLock('l'))
    const { url } = broken.server
    const { code, out } = await holdfast(['unlock', 'l', '--force', '--yes'], { url })
    assert.equal(code, 0)
    assert.ok(out.startsWith(`released 'l', which was held by web-1 (owner ${owner}); now held by web-2`), out)
    const hold = await next
    await sleep(1500)
    assert.equal(hold.lost, false)
    await hold.release()
    const free = await holdfast(['unlock', 'l', '--force', '--yes'], { url })
    const says = "holdfast: no lock 'l' is held or waited for\n"
    assert.deepEqual([free.code, free.out, free.error], [1, '', says])
    const late = await holdfast(['unlock', 'l', '--owner', owner], { url })
    assert.deepEqual([late.code, late.out, late.error], [1, '', says])
    await (await broken.open({ label: 'web-3' })).lock('m').acquire()
    assert.match((await holdfast(['unlock', 'm', '--force', '--yes'], { url })).out, /\(owner \S+\); now free\n$/)
  })

  onServer('waited for as two kinds → released as what it is, once', async (broken) => {
    const [one, two] = [await broken.open(), await broken.open()]
    await one.lock('l').acquire()
    const owner = await ownerOf(one.lock('l'))
    const next = two.lock('l').acquire()
    two
      .fairLock('l')
      .acquire()
      .catch(() => undefined)
    await sleep(2500)
    assert.equal((await holdfast(['unlock', 'l', '--force', '--yes'], { url: broken.server.url })).code, 0)
    const hold = await next
    assert.equal(hold.lost, false)
    assert.notEqual(await ownerOf(one.lock('l')), owner)
  })

  onServer('a part of an owner, or a waiter → 1, and nothing changes', async (broken) => {
    const { one, lock, owner } = await contended(broken, (client) => client.fairLock('l'))
    const { url } = broken.server
    const part = await holdfast(['unlock', 'l', '--owner', one.id], { url })
    assert.equal(part.code, 1)
    assert.match(part.error, /^holdfast: that is only a part of an owner; the lock is held by web-1/)
    const waiter = (await lock.inspect()).waiting[0]?.owner ?? assert.fail()
    assert.equal((await holdfast(['unlock', 'l', '--owner', waiter], { url })).code, 1)
    const state = await lock.inspect()
    assert.deepEqual([state.holders[0]?.owner, state.waiting[0]?.owner], [owner, waiter])
  })

  onServer('the other keys of a group → are not what was released', async (broken) => {
    const {
      open,
      redis,
      until,
      server: { url },
    } = broken
    const [one, two] = [await open({ label: 'web-1' }), await open({ label: 'web-2' })]
    await one.keyedLock('l', ['a']).acquire()
    await two.keyedLock('l', ['b']).acquire()
    for (const { id } of [one, two]) await until(async () => (await redis.hlen(`holdfast:client:${id}:locks`)) === 1)
    const owner = await ownerOf(one.keyedLock('l', ['a']))
    const { code, out } = await holdfast(['unlock', 'l', '--owner', owner], { url })
    assert.equal(code, 0)
    assert.match(out, /; now free\n$/)
  })

  onServer('a thread of Redisson acquires it again → the same owner has it now', async (broken) => {
    const {
      redis,
      after,
      until,
      server: { url },
    } = broken
    const acquire = () => redis.multi().hset('l', THEIRS, 1).pexpire('l', 60_000).exec()
    const told = redis.duplicate()
    after(() => told.disconnect())
    await told.subscribe('redisson_lock__channel:{l}')
    told.on('message', () => void acquire())
    await acquire()
    const said: string[] = []
    // It may be free when the command looks.
    while (said.length < 10 && !said.some((out) => out.includes('again'))) {
      await until(async () => (await redis.exists('l')) === 1)
      const { code, out } = await holdfast(['unlock', 'l', '--owner', THEIRS], { url })
      assert.equal(code, 0)
      said.push(out)
    }
    assert.ok(
      said.at(-1)?.endsWith(`; now held again by client ${THEIRS.slice(0, 36)} (owner ${THEIRS})\n`),
      said.join(''),
    )
  })

  onServer(
    'nothing of that name is found → so it says, with similar names, and not that it is free',
    async (broken) => {
      const {
        open,
        redis,
        until,
        server: { url },
      } = broken
      const client = await open()
      await client.lock('invoice:77').acquire()
      await until(async () => (await redis.hlen(`holdfast:client:${client.id}:locks`)) === 1)
      await redis.set('text', 'x')
      const said = async (...args: string[]): Promise<string> => {
        const { code, out, error } = await holdfast(['unlock', ...args], { url })
        assert.deepEqual([code, out], [1, ''])
        return error
      }
      const similar = "holdfast: no lock 'invoice:7' is held or waited for; names that contain it: 'invoice:77'\n"
      assert.equal(await said('invoice:7', '--owner', THEIRS), similar)
      assert.equal(await said('invoice:7', '--force', '--yes'), similar)
      assert.equal(await said('text', '--force', '--yes'), "holdfast: no lock 'text' is held or waited for\n")
      assert.match(
        await said('invoice:*', '--force', '--yes'),
        /; unlock takes one name: for a pattern, use holdfast ls 'invoice:\*'\n$/,
      )
      const other = await said('invoice:77', '--force', '--yes', '--kind', 'keyedLock')
      assert.match(other, /^holdfast: no keyedLock 'invoice:77' is held or waited for/)
    },
  )

  if (TERMINAL)
    onServer('in a terminal → asks, unless --yes', async (broken) => {
      const { one, owner } = await contended(broken, (client) => client.lock('l'))
      const { url } = broken.server
      for (const typed of ['n\n', '\n', 'maybe\n', '\u0004', '\u0003']) {
        const { code, out } = await holdfast(['unlock', 'l', '--force'], { url, columns: 80, typed })
        assert.match(out, /Release 'l', which is held by web-1\? \[y\/N\]/)
        assert.equal(code, 1, JSON.stringify(typed))
        assert.equal(await ownerOf(one.lock('l')), owner)
      }
      const agreed = await holdfast(['unlock', 'l', '--owner', owner], { url, columns: 80, typed: 'y\n' })
      assert.equal(agreed.code, 0, agreed.out)
      assert.match(agreed.out, /released 'l'/)
      const next = await ownerOf(one.lock('l'))
      const quiet = await holdfast(['unlock', 'l', '--owner', next, '--yes'], { url, columns: 80 })
      assert.doesNotMatch(quiet.out, /\[y\/N\]/)
      assert.equal(quiet.code, 0)
    })

  if (TERMINAL)
    onServer('another one holds it by the time of the answer → 1, and it stays locked', async (broken) => {
      const [one, two] = [await broken.open({ label: 'web-1' }), await broken.open({ label: 'web-2' })]
      const hold = await one.lock('l').acquire()
      const typed = async (): Promise<string> => {
        await hold.release()
        await two.lock('l').acquire()
        return 'y\n'
      }
      const { code, out } = await holdfast(['unlock', 'l', '--force'], { url: broken.server.url, columns: 80, typed })
      assert.equal(code, 1, out)
      assert.match(out, /'l' was released in the meantime/)
      assert.equal((await two.lock('l').inspect()).holders[0]?.client, two.id)
    })

  onServer('a user who may only read → 77, and it stays locked', async ({ redis, server, open }) => {
    const client = await open()
    await client.lock('l').acquire()
    const url = `redis://${await admit(redis, READER_LINE, 'secret-of-a-test')}@127.0.0.1:${server.port}`
    const { code, error } = await holdfast(['unlock', 'l', '--owner', await ownerOf(client.lock('l'))], { url })
    assert.equal(code, 77, error)
    assert.equal(await client.lock('l').isLocked(), true)
  })

  test('what is wrong → 64, the usage, and nothing is asked', async () => {
    for (const [args, says] of [
      [[], /the name of the lock is missing/],
      [['l'], /either --owner OWNER or --force/],
      [['l', '--owner', 'x', '--force'], /either --owner OWNER or --force/],
      [['l', '--force'], /--force needs --yes/],
      [['l', '--owner', ''], /--owner must not be empty/],
      [['l', 'm', '--owner', 'x'], /one name/],
    ] as const) {
      const { code, out, error } = await holdfast(['unlock', ...args], { url: 'redis://127.0.0.1:1' })
      assert.deepEqual([code, out], [64, ''], args.join(' '))
      assert.match(error, says)
      assert.match(error, /Usage: holdfast unlock NAME --owner OWNER/)
    }
  })
})
