import assert from 'node:assert/strict'
import { request as nodeRequest } from 'node:http'
import { connect as connectSocket } from 'node:net'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { connect, EngineError, type Hold, type ListedLock } from 'holdfast'
import {
  type AskedToRelease,
  dashboard,
  type DashboardAction,
  type DashboardHandler,
  onAsked,
  toNode,
} from 'holdfast/dashboard'
import { SCRIPT } from '#src/dashboard/assets.gen.js'
import type { ShownLock, Snapshot } from '#src/dashboard/page-messages.js'
import { STRANGE_NAMES } from '../support/hostile.js'
import type { Client } from '../support/engines.js'
import { onServer } from '../support/server.js'
import { until } from '../support/until.js'
import { heldBy, heldLock, listening, listing, overriding, served } from './stage.js'

const OWN = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' }

const state = async (base: string): Promise<Snapshot> => {
  const response = await fetch(`${base}state`)
  assert.equal(response.status, 200, await response.clone().text())
  return (await response.json()) as Snapshot
}

/** The lock, once the page would show it. */
const listed = async (base: string, name: string): Promise<ShownLock> => {
  let found: ShownLock | undefined
  await until(async () => {
    found = (await state(base)).locks.find((lock) => lock.name === name && lock.holding > 0)
    return found !== undefined
  })
  return found ?? assert.fail()
}

const post = (base: string, body: string, headers: Record<string, string> = OWN, leaf = 'release'): Promise<Response> =>
  fetch(base + leaf, { method: 'POST', headers, body })

const releaseOf = (lock: string, owner: string): string => JSON.stringify({ lock, owner })

/** The request as it is, without what `fetch` and `URL` would mend. */
const rawStatus = async (base: string, path: string): Promise<number> => {
  const { hostname, port } = new URL(base)
  const request = nodeRequest({ hostname, port, path }).end()
  const [response] = (await once(request, 'response')) as [{ statusCode: number; resume(): void }]
  response.resume()
  return response.statusCode
}

const onMemory = async (options: Partial<Parameters<typeof dashboard>[0]>): Promise<DashboardHandler> => {
  const client = await connect('memory:')
  return dashboard({ client, authorize: () => 'read', ...options })
}

void describe('the handler of the dashboard', () => {
  void test('the script has at most 40 KB, compressed', () => {
    assert.ok(gzipSync(SCRIPT).length <= 40_000, `${gzipSync(SCRIPT).length}`)
  })

  void test('options that are wrong are refused', async () => {
    const client = await connect('memory:')
    assert.throws(() => dashboard({ client } as never), /authorize/)
    assert.throws(() => dashboard({ client, authorize: () => 'read', path: 'locks' }), /path must begin/)
    assert.throws(() => dashboard({ client, authorize: () => 'read', streams: -1 }), /streams must be/)
    await client.close()
  })

  for (const [why, authorize] of [
    ['false', () => false],
    ['something else', () => 'admin'],
    ['an error', () => assert.fail('no')],
    ['nothing', () => undefined],
  ] as const) {
    void test(`authorize answers ${why} → 403 for everything`, async () => {
      const handler = await onMemory({ authorize: authorize as never })
      for (const path of ['', 'app.js', 'style.css', 'events', 'state', 'x', '..%2f']) {
        const { status } = await handler(new Request(`http://localhost/${path}`))
        assert.equal(status, 403, path)
      }
      for (const path of ['release', 'extend', 'ask'])
        assert.equal((await handler(new Request(`http://localhost/${path}`, { method: 'POST' }))).status, 403)
    })
  }

  void test('every answer forbids frames, sniffing, foreign and inline scripts', async () => {
    const handler = await onMemory({})
    for (const path of ['', 'app.js', 'style.css', 'state', 'nothing/here']) {
      const { headers } = await handler(new Request(`http://localhost/${path}`))
      const policy = headers.get('content-security-policy') ?? ''
      assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'/)
      assert.match(policy, /frame-ancestors 'none'/)
      assert.doesNotMatch(policy, /unsafe/)
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(headers.get('referrer-policy'), 'no-referrer')
    }
    const page = await (await handler(new Request('http://localhost/'))).text()
    assert.doesNotMatch(page, /<script(?![^>]*src=)|\son\w+=|\sstyle=/)
  })

  void test('methods that nothing has → 405', async () => {
    const handler = await onMemory({ authorize: () => 'act' })
    for (const [path, method] of [
      ['', 'POST'],
      ['app.js', 'DELETE'],
      ['events', 'POST'],
      ['state', 'PUT'],
      ['release', 'GET'],
      ['release', 'PUT'],
      ['extend', 'GET'],
    ] as const) {
      const response = await handler(new Request(`http://localhost/${path}`, { method }))
      assert.equal(response.status, 405, `${method} ${path}`)
      assert.notEqual(response.headers.get('allow'), null)
    }
  })

  void test('a path other than its own → 404; without the slash at the end → there', async () => {
    const handler = await onMemory({ path: '/admin/locks' })
    const at = async (path: string) => handler(new Request(`http://localhost${path}`))
    assert.equal((await at('/admin/locks/')).status, 200)
    assert.equal((await at('/admin/locks/app.js')).status, 200)
    const response = await at('/admin/locks')
    assert.deepEqual([response.status, response.headers.get('location')], [302, './locks/'])
    for (const path of ['/', '/app.js', '/admin/', '/admin/locks/x', '/admin/locks/x/app.js', '/admin/locks//app.js'])
      assert.equal((await at(path)).status, 404, path)
  })

  onServer('tricks in the path → 404', async (broken) => {
    const base = await served(broken, { path: '/locks' })
    const tricks = [
      '//evil.example/locks/',
      '/locks/%2e%2e/%2e%2e/etc/passwd',
      '/locks/..%2fapp.js',
      '/locks/app.js%00',
      '/locks/app.js/',
      String.raw`/locks\app.js`,
      '/locks/./%61pp.js',
      '/locks/__proto__',
      '/locks/constructor',
      '/locks/;/app.js',
    ]
    for (const path of tricks) assert.equal(await rawStatus(base, path), 404, path)
    assert.equal(await rawStatus(base, '/locks/app.js'), 200)
  })

  onServer('no owner and no whole id of a client leaves the server', async (broken) => {
    const base = await served(broken)
    const holder = await broken.open({ label: 'web-1' })
    await holder.lock('deploy').acquire()
    const lock = await listed(base, 'deploy')
    assert.equal(lock.holders[0]?.label, 'web-1')
    const text = JSON.stringify(await state(base))
    assert.ok(!text.includes(holder.id))
    const [owner] = (await holder.lock('deploy').inspect()).holders
    assert.ok(owner !== undefined && !text.includes(owner.owner))
  })

  onServer('a release: the named owner, by this page, with leave, and only once', async (broken) => {
    const actions: DashboardAction[] = []
    const base = await served(broken, { authorize: () => 'act', onAction: (action) => void actions.push(action) })
    const holder = await broken.open({ label: 'web-1' })
    const first = await holder.lock('deploy').acquire()
    const lock = await listed(base, 'deploy')
    const owner = lock.holders[0]?.id ?? assert.fail()
    const body = releaseOf(lock.id, owner)

    const refused: readonly (readonly [number, string, Promise<Response>])[] = [
      [403, 'another site', post(base, body, { ...OWN, 'Sec-Fetch-Site': 'cross-site' })],
      [403, 'another port', post(base, body, { ...OWN, 'Sec-Fetch-Site': 'same-site' })],
      [403, 'typed', post(base, body, { ...OWN, 'Sec-Fetch-Site': 'none' })],
      [403, 'nobody', post(base, body, { 'Content-Type': 'application/json' })],
      [403, 'origin', post(base, body, { 'Content-Type': 'application/json', Origin: 'http://evil.example' })],
      [403, 'null', post(base, body, { 'Content-Type': 'application/json', Origin: 'null' })],
      [415, 'a form', post(base, body, { ...OWN, 'Content-Type': 'text/plain' })],
      [400, 'no JSON', post(base, '{')],
      [400, 'null', post(base, 'null')],
      [400, 'numbers', post(base, '{"lock":1,"owner":2}')],
      [409, 'an unknown owner', post(base, releaseOf(lock.id, 'nobody'))],
      [409, 'an unknown lock', post(base, releaseOf('another', owner))],
    ]
    for (const [status, why, response] of refused) assert.equal((await response).status, status, why)
    assert.equal(first.state, 'held')
    assert.equal(actions.length, 0)

    assert.equal(
      (await post(base, body, { 'Content-Type': 'application/json', Origin: base.slice(0, -1) })).status,
      200,
    )
    const [action] = actions
    assert.deepEqual(
      [action?.type, action?.name, action?.kind, action?.client, action?.label, action?.done],
      ['release', 'deploy', 'lock', holder.id, 'web-1', true],
    )

    // A stale tab: the lock has another owner by now.
    const other = await broken.open({ label: 'web-2' })
    const second = await other.lock('deploy').acquire()
    assert.equal((await post(base, body)).status, 409)
    assert.equal(await other.lock('deploy').isLocked(), true)
    assert.equal(await second.release(), true)
    await first.release().catch(() => false)
  })

  onServer('an extension: of the named owner only, in bounds, and told', async (broken) => {
    const actions: DashboardAction[] = []
    const base = await served(broken, { authorize: () => 'act', onAction: (action) => void actions.push(action) })
    const holder = await broken.open({ label: 'web-1' })
    const hold = await holder.lock('deploy').acquire({ lease: 60_000 })
    const lock = await listed(base, 'deploy')
    const owner = lock.holders[0]?.id ?? assert.fail()
    const extend = async (lease: unknown, whose = owner, headers = OWN) =>
      (await post(base, JSON.stringify({ lock: lock.id, owner: whose, lease }), headers, 'extend')).status
    for (const lease of [undefined, null, '1000', 0, -1, 1.5, 1e9, [1000]]) assert.equal(await extend(lease), 400)
    assert.equal(await extend(600_000, 'nobody'), 409)
    assert.equal(await extend(600_000, owner, { ...OWN, 'Sec-Fetch-Site': 'cross-site' }), 403)
    const left = async () => (await holder.lock('deploy').remaining()) ?? assert.fail()
    assert.ok((await left()) <= 60_000)
    assert.equal(actions.length, 0)
    assert.equal(await extend(600_000), 200)
    assert.ok((await left()) > 500_000)
    assert.deepEqual(
      actions.map(({ type, name, done, lease }) => [type, name, done, lease]),
      [['extend', 'deploy', true, 600_000]],
    )
    await hold.release()
    assert.equal(await extend(600_000), 409)
    assert.equal(await holder.lock('deploy').isLocked(), false)
  })

  onServer('asking: the client of the named owner hears it if it listens, and nothing is released', async (broken) => {
    const actions: DashboardAction[] = []
    const base = await served(broken, { authorize: () => 'act', onAction: (action) => void actions.push(action) })
    const [holder, other] = [await broken.open({ label: 'web-1' }), await broken.open()]
    const hold = await holder.lock('deploy').acquire()
    const lock = await listed(base, 'deploy')
    const body = releaseOf(lock.id, lock.holders[0]?.id ?? assert.fail())
    const deaf = await post(base, body, OWN, 'ask')
    assert.equal(deaf.status, 409)
    assert.match(await deaf.text(), /does not listen/)

    const heard: AskedToRelease[] = []
    const subscription = await onAsked(holder, (asked) => void heard.push(asked))
    await onAsked(other, () => assert.fail('it was not asked'))
    assert.equal((await post(base, body, { ...OWN, 'Sec-Fetch-Site': 'cross-site' }, 'ask')).status, 403)
    assert.equal((await post(base, releaseOf(lock.id, 'nobody'), OWN, 'ask')).status, 409)
    assert.equal((await post(base, body, OWN, 'ask')).status, 200)
    await until(() => heard.length > 0)
    assert.deepEqual(heard, [{ name: 'deploy', kind: 'lock' }])
    assert.deepEqual(
      actions.map(({ type, done }) => [type, done]),
      [
        ['ask', false],
        ['ask', true],
      ],
    )
    // Anybody who may publish there can send anything.
    const channel = other.topic<string>(`holdfast:client:${holder.id}:asked`, { codec: 'string' })
    for (const text of [
      '',
      '{',
      'null',
      '{"name":1,"kind":"lock"}',
      JSON.stringify({ name: 'x'.repeat(500_000), kind: '' }),
    ])
      await channel.publish(text)
    await channel.publish('{"name":"last","kind":"lock"}')
    await until(() => heard.length > 1)
    assert.equal(heard[1]?.name, 'last')
    assert.equal(hold.state, 'held')
    await subscription.unsubscribe()
    assert.equal((await post(base, body, OWN, 'ask')).status, 409)
  })

  for (const [why, onAction] of [
    ['throws', () => assert.fail('no')],
    ['rejects', (() => Promise.reject(new Error('no'))) as () => void],
  ] as const)
    onServer(`a release is done also if onAction ${why}`, async (broken) => {
      const base = await served(broken, { authorize: () => 'act', onAction })
      const holder = await broken.open()
      await holder.lock('deploy').acquire()
      const { id, holders } = await listed(base, 'deploy')
      assert.equal((await post(base, releaseOf(id, holders[0]?.id ?? assert.fail()))).status, 200)
      assert.equal(await holder.lock('deploy').isLocked(), false)
    })

  onServer('a release whose answer is lost is told as well', async (broken) => {
    const actions: DashboardAction[] = []
    const client = await broken.open({ presence: false })
    const losing = new Proxy(client, {
      get: (target, part) => {
        if (part === 'lock') return () => ({ forceRelease: () => Promise.reject(new Error('lost')) })
        const value = Reflect.get(target, part) as unknown
        return typeof value === 'function' ? (value as () => unknown).bind(target) : value
      },
    })
    const onAction = (action: DashboardAction) => void actions.push(action)
    const base = await served(broken, { client: losing, authorize: () => 'act', onAction })
    await (await broken.open()).lock('deploy').acquire()
    const { id, holders } = await listed(base, 'deploy')
    const response = await post(base, releaseOf(id, holders[0]?.id ?? assert.fail()))
    assert.equal(response.status, 503)
    assert.match(await response.text(), /lost/)
    assert.deepEqual(
      actions.map(({ name, done }) => [name, done]),
      [['deploy', undefined]],
    )
  })

  onServer('a lock whose name is longer than what the page shows can be released', async (broken) => {
    const base = await served(broken, { authorize: () => 'act' })
    const name = 'n'.repeat(500)
    const holder = await broken.open()
    await holder.lock(name).acquire()
    const { id, holders } = await listed(base, `${name.slice(0, 300)}…`)
    assert.equal((await post(base, releaseOf(id, holders[0]?.id ?? assert.fail()))).status, 200)
    assert.equal(await holder.lock(name).isLocked(), false)
  })

  void test('one owner holds two kinds of lock with one name → the one on the page is released', async () => {
    const client = await connect('memory:')
    const one = heldLock('deploy')
    const group = { ...one, kind: 'keyedLock', key: 'keys', holders: [{ ...heldBy(one), keys: ['a'], since: 1 }] }
    const released: string[] = []
    const lock = (kind: string) => () => ({ forceRelease: async () => released.push(kind) > 0 })
    const locks = listing(client, () => [group as ListedLock, one])
    const acting = overriding(locks, { lock: lock('lock'), keyedLock: lock('keyedLock') })
    const handler = dashboard({ client: acting, authorize: () => 'act' })
    const { locks: shown } = (await (await handler(new Request('http://localhost/state'))).json()) as Snapshot
    for (const kind of ['lock', 'keyedLock']) {
      const { id, holders } = shown.find((one) => one.kind === kind) ?? assert.fail()
      const init = { method: 'POST', headers: OWN, body: releaseOf(id, holders[0]?.id ?? assert.fail()) }
      assert.equal((await handler(new Request('http://localhost/release', init))).status, 200)
    }
    assert.deepEqual(released, ['lock', 'keyedLock'])
    await client.close()
  })

  onServer('without leave to act → 405, and nothing is released', async (broken) => {
    const base = await served(broken)
    const hold: Hold = await (await broken.open()).lock('deploy').acquire()
    const { id, holders } = await listed(base, 'deploy')
    const owner = holders[0]?.id ?? assert.fail()
    assert.equal((await post(base, releaseOf(id, owner))).status, 405)
    const longer = JSON.stringify({ lock: id, owner, lease: 600_000 })
    assert.equal((await post(base, longer, OWN, 'extend')).status, 405)
    assert.equal((await post(base, releaseOf(id, owner), OWN, 'ask')).status, 405)
    assert.ok(((await (await broken.open()).lock('deploy').remaining()) ?? 0) <= 60_000)
    assert.equal(await hold.release(), true)
  })

  onServer('a body of 1 MB, with and without its length → 413, and the connection ends', async (broken) => {
    const base = await served(broken, { authorize: () => 'act' })
    const long = releaseOf('deploy', 'x'.repeat(1_000_000))
    assert.equal((await post(base, long)).status, 413)
    // One that never ends.
    const { hostname, port } = new URL(base)
    const socket = connectSocket(Number(port), hostname)
    socket.on('error', () => undefined)
    const head = ['POST /release HTTP/1.1', `Host: ${hostname}:${port}`, 'Sec-Fetch-Site: same-origin']
    socket.write(`${[...head, 'Content-Type: application/json', 'Transfer-Encoding: chunked'].join('\r\n')}\r\n\r\n`)
    const chunk = `2000\r\n${'x'.repeat(0x2000)}\r\n`
    const timer = setInterval(() => socket.writable && socket.write(chunk), 5)
    broken.after(() => clearInterval(timer))
    let said = ''
    socket.on('data', (data: Buffer) => (said += data.toString()))
    await once(socket, 'close')
    assert.match(said, /^HTTP\/1\.1 413 /)
  })

  onServer(
    '1,000 streams are asked for: 64 are open, the others poll, and the process keeps little',
    async (broken) => {
      const base = await served(broken)
      const end = new AbortController()
      broken.after(() => end.abort())
      // The stream of a response that nothing refers to would be closed.
      const responses: Response[] = []
      for (let i = 0; i < 20; i += 1) {
        const asked = Array.from({ length: 50 }, () => fetch(`${base}events`, { signal: end.signal }))
        responses.push(...(await Promise.all(asked)))
      }
      const count = (wanted: number) => responses.filter(({ status }) => status === wanted).length
      assert.deepEqual([count(200), count(503)], [64, 936])
      assert.equal((await fetch(`${base}state`)).status, 200)
      end.abort()
      await until(async () => {
        const next = new AbortController()
        const { status } = await fetch(`${base}events`, { signal: next.signal })
        next.abort()
        return status === 200
      })
    },
  )

  onServer('more streams than allowed → 503; a stream that ends leaves room', async (broken) => {
    const base = await served(broken, { streams: 3 })
    const ends = Array.from({ length: 3 }, () => new AbortController())
    // They are kept: fetch cancels the body of an answer that is garbage.
    const open = await Promise.all(ends.map(({ signal }) => fetch(`${base}events`, { signal })))
    for (const { status } of open) assert.equal(status, 200)
    const refused = await Promise.all(Array.from({ length: 100 }, () => fetch(`${base}events`)))
    assert.deepEqual(new Set(refused.map(({ status }) => status)), new Set([503]))
    assert.equal((await fetch(`${base}state`)).status, 200)
    ends[0]?.abort()
    await until(async () => {
      const end = new AbortController()
      const { status } = await fetch(`${base}events`, { signal: end.signal })
      end.abort()
      return status === 200
    })
    for (const end of ends) end.abort()
    assert.equal(open.length, 3)
  })

  onServer('a client that goes away while authorize thinks about it leaves no stream open', async (broken) => {
    const client: Client = await broken.open({ presence: false })
    let decide: () => void = () => undefined
    const decided = new Promise<void>((resolve) => (decide = resolve))
    const authorize = async () => {
      await decided
      return 'read' as const
    }
    const serve = toNode(dashboard({ client, authorize, streams: 1 }))
    let gone = false
    const base = await listening(broken, (request, response) => {
      response.once('close', () => (gone = true))
      void serve(request, response)
    })
    const end = new AbortController()
    const asked = fetch(`${base}/events`, { signal: end.signal })
    setTimeout(() => end.abort(), 200)
    await assert.rejects(asked)
    await until(() => gone)
    decide()
    await until(async () => {
      const next = new AbortController()
      const { status } = await fetch(`${base}/events`, { signal: next.signal })
      next.abort()
      return status === 200
    })
  })

  void test('a part that cannot be read: its locks stay as they were, and the page is told why', async () => {
    const client = await connect('memory:')
    let missing = false
    const locks = ['deploy', 'invoice'].map((name) => heldLock(name))
    const partly = listing(client, ({ onSkipped }) => {
      if (missing) onSkipped?.({ name: 'deploy', error: new Error('the master is silent') })
      return missing ? locks.slice(1) : locks
    })
    const handler = dashboard({ client: partly, authorize: () => 'read' })
    const read = async () => (await (await handler(new Request('http://localhost/state'))).json()) as Snapshot
    const before = await read()
    assert.deepEqual([before.locks.length, before.missing], [2, null])
    missing = true
    await until(async () => (await read()).missing !== null)
    const after = await read()
    assert.match(after.missing ?? '', /left out a lock that could not be read: the master is silent/)
    assert.deepEqual(after.locks.map(({ name, holding }) => [name, holding]).sort(), [
      ['deploy', 1],
      ['invoice', 1],
    ])
    missing = false
    await until(async () => (await read()).missing === null)
    await client.close()
  })

  void test('a lock that may never be read keeps no other one on the page', async () => {
    const client = await connect('memory:')
    let locks = ['deploy', 'invoice'].map((name) => heldLock(name))
    const foreign = listing(client, ({ onSkipped }) => {
      onSkipped?.({ name: 'other:1', error: new EngineError('NOPERM', 'no permissions') })
      return locks
    })
    const handler = dashboard({ client: foreign, authorize: () => 'read' })
    const held = async () => {
      const { locks } = (await (await handler(new Request('http://localhost/state'))).json()) as Snapshot
      return locks.filter(({ holding }) => holding > 0).map(({ name }) => name)
    }
    assert.deepEqual(await held(), ['deploy', 'invoice'])
    locks = locks.slice(1)
    await until(async () => (await held()).length === 1)
    assert.deepEqual(await held(), ['invoice'])
    await client.close()
  })

  void test('locks that are beyond the last that is shown are not shown as free', async () => {
    const client = await connect('memory:')
    const many = Array.from({ length: 10_000 }, (_, i) => heldLock(`order:${i}`))
    let more = false
    const first = heldLock('deploy')
    const handler = dashboard({
      client: listing(client, () => (more ? [...many, first] : [first])),
      authorize: () => 'read',
    })
    const read = async () => (await (await handler(new Request('http://localhost/state'))).json()) as Snapshot
    assert.equal((await read()).locks.length, 1)
    more = true
    await until(async () => (await read()).hidden === 1)
    assert.equal((await read()).locks.filter(({ free }) => free !== undefined).length, 0)
    await client.close()
  })

  onServer('the newest slots of a schedule: what ran, what was missed, what no process has claimed', async (broken) => {
    const client = await broken.open({ label: 'web-1' })
    const slots = client.slots('nightly')
    const midnight = Math.floor(Date.now() / 86_400_000) * 86_400_000
    const due = (daysAgo: number) => new Date(midnight - daysAgo * 86_400_000)
    await slots.run(due(0), () => undefined)
    await slots.run(due(1), () => Promise.reject(new Error('no disk')))
    await slots.skip(due(2))
    const schedules = [
      { name: 'nightly', cron: '0 0 * * *' },
      { name: 'wrong', cron: 'never' },
    ]
    const base = await served(broken, { schedules })
    await until(async () => (await state(base)).schedules.length > 0)
    const [nightly, wrong] = (await state(base)).schedules
    assert.deepEqual(
      nightly?.slots.map(({ due: at, state: is, who, attempt }) => [(midnight - at) / 86_400_000, is, who, attempt]),
      [
        [0, 'ran', 'web-1', undefined],
        [1, 'failed', 'web-1', undefined],
        [2, 'missed', undefined, undefined],
        ...[3, 4, 5, 6].map((day) => [day, 'unclaimed', undefined, undefined]),
      ],
    )
    assert.equal(nightly?.next, midnight + 86_400_000)
    assert.deepEqual([wrong?.slots, wrong?.next], [[], null])
    assert.match(wrong?.trouble ?? '', /cannot compute slots for 'never'/)
  })

  void test('a list of schedules that is none is refused', async () => {
    const client = await connect('memory:')
    const wrong = [{}, 'x', [1], [{ name: '' }], [{ name: 'a', cron: 5 }], [{ name: 'a', cron: '', timezone: 5 }]]
    for (const schedules of [...wrong, Array(21).fill({ name: 'a', cron: '' })])
      assert.throws(() => dashboard({ client, authorize: () => 'read', schedules: schedules as never }), TypeError)
    const negative = [{ name: 'a', cron: '* * * * *', retention: -1 }]
    assert.throws(() => dashboard({ client, authorize: () => 'read', schedules: negative }), RangeError)
    await client.close()
  })

  onServer('another site cannot open a stream', async (broken) => {
    const base = await served(broken)
    for (const path of ['events', 'state'])
      assert.equal((await fetch(base + path, { headers: { 'Sec-Fetch-Site': 'cross-site' } })).status, 403)
  })

  onServer('names that may hold anything come as JSON on one line', async (broken) => {
    const base = await served(broken)
    const client = await broken.open({ label: '</script><img src=x onerror=alert(1)>' })
    const names = [
      ...STRANGE_NAMES.filter((name) => name.length < 10_000),
      '<img src=x onerror=alert(1)>',
      'data: x\n\nevent: y',
    ]
    for (const name of names) await client.lock(name).acquire()
    await until(async () => (await state(base)).locks.length === names.length)
    const end = new AbortController()
    const { body } = await fetch(`${base}events`, { signal: end.signal })
    let text = ''
    for await (const chunk of body ?? assert.fail()) {
      text += Buffer.from(chunk).toString()
      if (text.split('\n\n').length > 3) break
    }
    end.abort()
    const [, event = ''] = text.split('\n\n')
    assert.match(event, /^event: snapshot\ndata: [^\n]*$/)
    const shown = JSON.parse(event.slice(event.indexOf('{'))) as Snapshot
    assert.deepEqual(new Set(shown.locks.map(({ name }) => name)), new Set(names))
  })
})
