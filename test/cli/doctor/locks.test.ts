import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe } from 'node:test'
import { HIDDEN, STRANGE_NAMES } from '../../support/hostile.js'
import { type Broken, onServer } from '../../support/server.js'
import { holdfast, linesOf, MAIN, TERMINAL } from '../commands/stage.js'
import { diagnosed, type Diagnosis, GOOD, onlyOne } from './stage.js'

const THEIRS = '00000000-0000-4000-8000-000000000000:55'

/** A process of its own that runs these lines, says `ready`, and then stays. Resolves with what kills it. */
const started = async ({ server, after }: Broken, lines: string): Promise<() => Promise<void>> => {
  const program = `import { connect } from 'holdfast'
const client = await connect({ url: '${server.url}', watchdog: 3000, label: 'doomed' })
${lines}
console.log('ready')
setInterval(() => undefined, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await closed
  }
  after(kill)
  await once(child.stdout, 'data')
  return kill
}

/** Clients have held and waited for so many ms longer than they have. */
const earlier = async (redis: Broken['redis'], ms: number): Promise<void> => {
  for (const key of await redis.keys('holdfast:client:*:locks'))
    for (const [field, text] of Object.entries(await redis.hgetall(key)))
      await redis.hset(
        key,
        field,
        text.replaceAll(/\d{13}/g, (since) => String(Number(since) - ms)),
      )
}

/** Until something is found, or the time is over. */
const found = async (args: readonly string[], url: string, code: string): Promise<Diagnosis> => {
  for (const end = performance.now() + 60_000; ;) {
    const diagnosis = await diagnosed(args, { url })
    if (diagnosis.codes.includes(code)) return diagnosis
    assert.ok(performance.now() < end, `no ${code}`)
  }
}

/** Until the list of locks has this many. */
const published = async (url: string, count: number): Promise<void> => {
  for (const end = performance.now() + 30_000; ;) {
    if ((await diagnosed([], { url })).locks['count'] === count) return
    assert.ok(performance.now() < end, `not ${count} locks`)
  }
}

void describe('holdfast doctor: the locks', { concurrency: 2 }, () => {
  onServer(
    'a process that is killed under a lease of an hour → dead-holder, and the command that releases the lock; one that lives → nothing',
    async (broken) => {
      const { url } = broken.server
      const kill = await started(
        broken,
        `await client.fairLock('job').acquire({ lease: 3_600_000 })
await client.lock('short').acquire()`,
      )
      await published(url, 2)
      assert.deepEqual((await diagnosed(['--scan'], { url })).codes, [])
      await kill()
      const { what, about, run } = onlyOne(await found([], url, 'dead-holder'), 'dead-holder')
      assert.equal(about, 'job')
      assert.match(what, /^this fairLock is held by client [\da-f-]{36}, which is silent, for another 5\dm\d\ds$/)
      const [command = ''] = run
      const words = command.replace(/^holdfast /, '').split(' ')
      assert.equal((await holdfast([...words, '--yes'], { url })).code, 0)
      assert.deepEqual((await diagnosed([], { url })).codes, [])
    },
    GOOD,
  )

  onServer(
    'a label that cannot be read → unreadable-label, and never dead-holder; once it is gone → dead-holder',
    async (broken) => {
      const { redis, server } = broken
      const { url } = server
      const kill = await started(broken, `await client.lock('job').acquire({ lease: 3_600_000 })`)
      await published(url, 1)
      const labels = (await redis.keys('holdfast:client:????????-*')).filter((key) => !key.endsWith(':locks'))
      assert.equal(labels.length, 1)
      const [label = ''] = labels
      await kill()
      await found([], url, 'dead-holder')
      const strange: (() => Promise<unknown>)[] = [
        () => redis.lpush(label, 'x'),
        () => redis.set(label, 'no json'),
        () => redis.set(label, '{"label":5}'),
      ]
      for (const write of strange) {
        await redis.del(label)
        await write()
        const { what, about, run } = onlyOne(await diagnosed([], { url }), 'unreadable-label')
        assert.equal(about, 'job')
        assert.match(
          what,
          /^this lock is held by client [\da-f-]{36}, label unknown \(cannot be read\), for another 5\dm\d\ds; whether it is alive is not known$/,
        )
        assert.deepEqual(run, [`redis-cli -u ${url} TYPE ${label}`])
        const { out } = await holdfast(['show', 'job', '--json'], { url })
        const [holder] = (JSON.parse(out) as { holders: Record<string, unknown>[] }).holders
        assert.deepEqual([holder?.['label'], holder?.['labelUnknown']], [null, 'unreadable'])
      }
      await redis.del(label)
      onlyOne(await diagnosed([], { url }), 'dead-holder')
    },
    GOOD,
  )

  onServer(
    'a lock of Redisson, a client without presence, a hold that ends within a minute → nothing',
    async (broken) => {
      const { redis, open, server } = broken
      await redis.hset('theirs', THEIRS, 1)
      await redis.pexpire('theirs', 3_600_000)
      await (await open({ presence: false })).lock('quiet').acquire({ lease: 3_600_000 })
      const kill = await started(broken, `await client.lock('soon').acquire({ lease: 50_000 })`)
      await published(server.url, 1)
      await kill()
      const isSilent = async (): Promise<boolean> =>
        (await redis.keys('holdfast:client:????????-*')).every((key) => key.endsWith(':locks'))
      await broken.until(isSilent)
      const { codes, locks } = await diagnosed(['--scan'], { url: server.url })
      assert.deepEqual([codes, locks], [[], { type: 'locks', count: 3, scanned: true }])
    },
    GOOD,
  )

  onServer(
    'calls wait for a client that has no label and has published nothing → unknown-holder; for one of Redisson → nothing',
    async ({ redis, open, server: { url } }) => {
      await (await open({ presence: false })).lock('quiet').acquire({ lease: 3_600_000 })
      await redis.hset('theirs', THEIRS, 1)
      await redis.pexpire('theirs', 3_600_000)
      await published(url, 0)
      assert.deepEqual((await diagnosed(['--scan'], { url })).codes, [], 'nobody waits')
      const waiting = await open()
      for (const name of ['quiet', 'theirs'])
        waiting
          .lock(name)
          .acquire()
          .catch(() => undefined)
      await published(url, 2)
      const { what, about, run } = onlyOne(await diagnosed([], { url }), 'unknown-holder')
      assert.equal(about, 'quiet')
      assert.match(
        what,
        /^this lock is held by client \S+, which has no label, for another 5\dm\d\ds, and calls wait for it$/,
      )
      assert.match(run[0] ?? '', /^holdfast unlock --owner \S+ quiet$/)
      const shown = await holdfast(['show', 'quiet'], { url })
      assert.ok(shown.out.endsWith(`\n  ${run[0]}\n`), 'show and doctor agree')
      assert.match(shown.out.replaceAll('\n', ' '), /again in 2\dm\d\ds\.[^]*sure that it has ended, release/)
    },
    GOOD,
  )

  onServer(
    'calls wait for a client whose label with a long lease is not written any more → dead-holder',
    async ({ redis, open, server: { url } }) => {
      const client = await open({ label: 'batch', watchdog: 3_600_000 })
      await client.lock('job').acquire()
      const waiting = await open()
      waiting
        .lock('job')
        .acquire()
        .catch(() => undefined)
      await published(url, 1)
      assert.deepEqual((await diagnosed([], { url })).codes, [])
      await redis.pexpire(`holdfast:client:${client.id}`, 600_000)
      const { what, about, run } = onlyOne(await diagnosed([], { url }), 'dead-holder')
      assert.equal(about, 'job')
      assert.match(what, /^this lock is held by batch, which has been silent for 5[0-5]m\d\ds, for another 5\dm\d\ds$/)
      assert.match(run[0] ?? '', /^holdfast unlock --owner \S+ job$/)
    },
    GOOD,
  )

  onServer(
    'clients that hold and wait crosswise for ten seconds → deadlock',
    async ({ open, server: { url } }) => {
      const [one, two] = [await open({ label: 'one' }), await open({ label: 'two' })]
      await one.lock('a').acquire()
      await two.lock('b').acquire()
      for (const call of [one.lock('b').acquire(), two.lock('a').acquire()]) call.catch(() => undefined)
      await published(url, 2)
      const { what, run } = onlyOne(await found([], url, 'deadlock'), 'deadlock')
      assert.match(what, /^perhaps a deadlock: /)
      assert.ok(what.includes('one holds a and waits for b') && what.includes('two holds b and waits for a'), what)
      assert.deepEqual(run, ['holdfast tree'])
    },
    GOOD,
  )

  onServer(
    'a call waits for more than a minute behind a holder that lives → long-wait, without a command that releases',
    async (broken) => {
      const { open, redis, server } = broken
      const { url } = server
      await started(broken, `await client.lock('job').acquire()`)
      const waiting = await open({ label: 'web-9' })
      waiting
        .lock('job')
        .acquire()
        .catch(() => undefined)
      await published(url, 1)
      await broken.until(async () => (await redis.hlen(`holdfast:client:${waiting.id}:locks`)) === 1)
      assert.deepEqual((await diagnosed([], { url })).codes, [])
      await earlier(redis, 125_000)
      const { what, about, run } = onlyOne(await diagnosed([], { url }), 'long-wait')
      assert.equal(about, 'job')
      assert.match(what, /^a call has waited for 2m\d\ds for this lock, which doomed has held for 2m\d\ds$/)
      assert.deepEqual(run, ['holdfast show job'])
    },
    GOOD,
  )

  onServer(
    'a candidate waits for as long as another process leads → nothing; for a fenced lock without a leader → long-wait',
    async (broken) => {
      const {
        open,
        redis,
        server: { url },
      } = broken
      const stay = 'async ({ signal }) => { while (!signal.aborted) await new Promise((go) => setTimeout(go, 50)) }'
      await started(broken, `void client.election('boss').lead(${stay})\nawait client.fencedLock('job').acquire()`)
      await broken.until(async () => (await redis.exists('boss')) === 1)
      const standby = await open({ label: 'web-9' })
      for (const call of [standby.election('boss').lead(() => undefined), standby.fencedLock('job').acquire()])
        call.catch(() => undefined)
      await broken.until(async () => {
        const keys = await redis.keys('holdfast:client:*:locks')
        const counts = await Promise.all(keys.map((key) => redis.hlen(key)))
        return counts.join() === '2,2'
      })
      await earlier(redis, 125_000)
      assert.equal(onlyOne(await diagnosed([], { url }), 'long-wait').about, 'job')
    },
    GOOD,
  )

  onServer(
    'a process that is killed while it waits → dead-place; one that lives → nothing',
    async (broken) => {
      const { open, server, redis } = broken
      await (await open()).lock('busy').acquire()
      const kill = await started(broken, `void client.lock('busy').acquire()`)
      await broken.until(async () => (await redis.llen('holdfast_line:{busy}')) === 1)
      await published(server.url, 1)
      assert.deepEqual((await diagnosed([], { url: server.url })).codes, [])
      await broken.until(
        async () => linesOf((await holdfast(['ls', '--blocked'], { url: server.url })).out).length === 2,
      )
      await kill()
      const { what, about, run } = onlyOne(await found([], server.url, 'dead-place'), 'dead-place')
      assert.deepEqual([about, run], ['busy', []])
      assert.equal(what, '1 of 1 places in the line of this lock belong to processes that are silent')
      const said = async (...args: string[]): Promise<string> => (await holdfast(args, { url: server.url })).out
      assert.match(await said('show', 'busy'), /waiting {2}1\. client \S+(, for \S+)?, silent, holds nobody up\n/)
      assert.equal(linesOf(await said('ls', '--blocked')).length, 1, 'no lock is blocked')
      assert.match(await said('ls', '-o', 'NAME,WAITING'), /\nbusy +0\n/)
      assert.equal(await said('tree'), '')
      const { waiting } = JSON.parse(await said('show', 'busy', '--json')) as { waiting: { silent: boolean }[] }
      assert.deepEqual(
        waiting.map(({ silent }) => silent),
        [true],
      )
    },
    GOOD,
  )

  onServer(
    'a lock without an expiry → no-expiry: by the index, and with --scan also one that no client has published',
    async ({ redis, open, server: { url } }) => {
      await (await open({ label: 'web-1' })).lock('ours').acquire({ lease: 3_600_000 })
      await redis.hset('theirs', THEIRS, 1)
      await published(url, 1)
      assert.deepEqual((await diagnosed([], { url })).codes, [])
      await redis.persist('ours')
      const { what, about } = onlyOne(await diagnosed([], { url }), 'no-expiry')
      assert.deepEqual([about, what], ['ours', 'the key of this lock has no expiry, held by web-1'])
      const { findings, codes } = await diagnosed(['--scan'], { url })
      assert.deepEqual(
        [codes, findings.map((one) => one.about)],
        [
          ['no-expiry', 'no-expiry'],
          ['ours', 'theirs'],
        ],
      )
      assert.deepEqual(findings[1]?.run, [`holdfast unlock --owner ${THEIRS} theirs`])
    },
    GOOD,
  )

  onServer(
    'a scan that takes too long → scan-unfinished, and what the index knows; in time → nothing',
    async ({ redis, open, server: { url } }) => {
      for (let from = 0; from < 20_000; from += 1000)
        await redis.mset(Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`other:${from + i}`, '1'])))
      await (await open()).lock('ours').acquire({ lease: 3_600_000 })
      await published(url, 1)
      const { locks, ...rest } = await diagnosed(['--scan', '--within', '1ms'], { url })
      assert.match(
        onlyOne({ locks, ...rest }, 'scan-unfinished').what,
        /^the scan was stopped after 1ms, at \d+ of \d+ keys$/,
      )
      assert.deepEqual(locks, { type: 'locks', count: 1, scanned: false })
      const whole = await diagnosed(['--scan'], { url })
      assert.deepEqual([whole.codes, whole.locks], [[], { type: 'locks', count: 1, scanned: true }])
      if (!TERMINAL) return
      assert.match((await holdfast(['doctor', '--scan'], { url, columns: 80 })).out, /looked at [\d,]+ of [\d,]+ keys/)
    },
    GOOD,
  )

  onServer(
    'hostile names and labels → plain lines; exact in JSON; the command names the lock in a shell',
    async ({ redis, open, server: { url } }) => {
      const names = STRANGE_NAMES.filter((name) => name.length < 10_000)
      const client = await open({ label: 'evil\u001b[2J\nweb-9\u202e' })
      for (const name of names) {
        await client.lock(name).acquire({ lease: 3_600_000 })
        await redis.persist(name)
      }
      await published(url, names.length)
      const { out, error } = await holdfast(['doctor'], { url })
      assert.equal(error, '')
      for (const line of linesOf(out)) {
        assert.doesNotMatch(line, HIDDEN)
        assert.doesNotMatch(line, /^(holdfast: the lock|web-9)/)
      }
      const { findings } = await diagnosed([], { url })
      assert.deepEqual(findings.map(({ about }) => about).sort(), [...names].sort())
      const env = { ...process.env, HOLDFAST_URL: url }
      // No shell can name what has a NUL.
      const named = findings.filter(({ about }) => !about.includes('\0'))
      assert.equal(named.length, names.length - 1)
      for (const { about, run } of named) {
        const command = (run[0] ?? '').replace(/^holdfast/, '"$0" "$1"')
        execFileSync('bash', ['-c', `${command} --yes`, process.execPath, MAIN], { env })
        assert.equal(await redis.exists(about), 0)
      }
    },
    GOOD,
  )

  onServer(
    'hundreds of findings → 20 are shown, and how many more; all in JSON',
    async ({ redis, server: { url } }) => {
      for (let i = 0; i < 300; i++) await redis.hset(`stuck:${i}`, THEIRS, 1)
      const { out } = await holdfast(['doctor', '--scan'], { url })
      assert.equal(linesOf(out).filter((line) => /^no-expiry: \S+: /.test(line)).length, 20)
      assert.match(out, /\n\nno-expiry: stuck:\d+(, stuck:\d+){4} … and 295 more\n300 findings\n$/)
      assert.match(out, /… and 280 more; --json prints all\n/)
      assert.match(out, /\n300 findings\n$/)
      assert.equal((await diagnosed(['--scan'], { url })).findings.length, 300)
    },
    GOOD,
  )
})
