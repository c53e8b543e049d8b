import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'holdfast'
import { admit, READER_LINE } from '../../support/acl.js'
import { type Broken, onServer } from '../../support/server.js'
import { holdfast, linesOf } from '../commands/stage.js'

/** ms. By then, calls that wait while something is held have been published. */
const PUBLISHED = 2500

/** Holds one lock, and waits for another meanwhile. Ends when the client closes. */
const nested = async (client: Client, holds: string, wants: string, ready: () => Promise<unknown>): Promise<void> => {
  await client.lock(holds).using(async () => {
    await ready()
    await client.lock(wants).using(() => undefined)
  })
}

/** Several calls, each of which waits for what the next one holds; the last one for what the first one holds. */
const ring = async (
  { open }: Broken,
  names: readonly string[],
  deadlocks: 'report' | 'off' = 'report',
): Promise<void> => {
  const clients = await Promise.all(names.map((name) => open({ label: `has-${name}`, deadlocks })))
  let held = 0
  let go: () => void = () => undefined
  const all = new Promise<void>((resolve) => (go = resolve))
  names.forEach((name, i) => {
    const next = names[(i + 1) % names.length] ?? ''
    const ready = (): Promise<void> => (++held === names.length ? Promise.resolve(go()) : all)
    nested(clients[i] as Client, name, next, ready).catch(() => undefined)
  })
  await all
  await sleep(PUBLISHED)
}

void describe('holdfast tree', () => {
  onServer(
    'a deadlock of two real clients → 1, which call waits for which, and a command that ends it',
    async (broken) => {
      const { url } = broken.server
      await ring(broken, ['a', 'b'])
      const { code, out, error } = await holdfast(['tree'], { url })
      assert.deepEqual([code, error], [1, ''])
      assert.match(out, /Deadlock: these calls wait for one another\./)
      assert.match(out, /has-a holds a and waits for b, for \d+s/)
      assert.match(out, /has-b holds b and waits for a, for \d+s/)
      const youngest =
        /^Look at these processes, and end one of them[^]* (has-\w)\s+has\s+waited\s+the\s+shortest/m.exec(out)?.[1]
      assert.ok(youngest !== undefined, out)
      assert.match(out, new RegExp(`still\nheld:\n  holdfast unlock --owner \\S+ ${youngest.slice(-1)}\n`))
      const command = linesOf(out).find((line) => line.startsWith('  holdfast unlock'))
      const [, , ...args] = (command ?? '').trim().split(' ')
      assert.equal((await holdfast(['unlock', ...args, '--yes'], { url })).code, 0)
      await broken.until(async () => (await holdfast(['tree'], { url })).code === 0, 30_000)
    },
  )

  onServer(
    'PATTERN → only trees and deadlocks that have such a name, in each form; the exit code is theirs',
    async (broken) => {
      const { url } = broken.server
      await ring(broken, ['a', 'b'])
      const [holder, waiter] = [await broken.open({ label: 'has-x' }), await broken.open({ label: 'wants-x' })]
      await holder.lock('x:1').acquire()
      waiter
        .lock('x:1')
        .acquire()
        .catch(() => undefined)
      await broken.until(async () => (await holder.lock('x:1').inspect()).waiting.length === 1)
      await sleep(PUBLISHED)
      const x = await holdfast(['tree', 'x:*'], { url })
      assert.deepEqual([x.code, x.error], [0, ''])
      assert.match(x.out, /^x:1 \(lock\), held by has-x, for \d+s\n└─ wants-x, for \d+s\n$/)
      const b = await holdfast(['tree', 'b'], { url })
      assert.equal(b.code, 1)
      assert.match(b.out, /Deadlock/)
      assert.doesNotMatch(b.out, /x:1/)
      assert.match((await holdfast(['tree'], { url })).out, /x:1[^]*Deadlock|Deadlock[^]*x:1/)
      const rows = linesOf((await holdfast(['tree', '--json', 'x:?'], { url })).out)
      assert.deepEqual(
        rows.map((line) => (JSON.parse(line) as { name: string }).name),
        ['x:1'],
      )
      const { out } = await holdfast(['tree', '--dot', 'x:1'], { url })
      assert.match(out, /lock x:1/)
      assert.doesNotMatch(out, /has-a/)
      assert.deepEqual((await holdfast(['tree', 'none'], { url })).out, '')
      assert.equal((await holdfast(['tree', 'x', 'y'], { url })).code, 64)
    },
  )

  onServer('--json, --dot, show → the same', async (broken) => {
    const { url } = broken.server
    await ring(broken, ['a', 'b', 'c'])
    const json = await holdfast(['tree', '--json'], { url })
    assert.equal(json.code, 1)
    const rows = linesOf(json.out).map((line) => JSON.parse(line) as Record<string, unknown>)
    assert.deepEqual(
      rows.map(({ type, name }) => [type, name]),
      [
        ['lock', 'a'],
        ['lock', 'b'],
        ['lock', 'c'],
        ['deadlock', undefined],
      ],
    )
    const calls = rows[3]?.['calls'] as readonly Record<string, unknown>[]
    assert.deepEqual(calls.map(({ holds, label, waitsFor }) => [holds, label, waitsFor]).sort(), [
      ['a', 'has-a', 'b'],
      ['b', 'has-b', 'c'],
      ['c', 'has-c', 'a'],
    ])
    const dot = await holdfast(['tree', '--dot'], { url })
    assert.equal(dot.code, 1)
    assert.equal(linesOf(dot.out).filter((line) => line.includes('color=red')).length, 3)
    assert.equal(linesOf(dot.out).filter((line) => line.includes(' -> ')).length, 6)
    const shown = await holdfast(['show', 'a'], { url })
    assert.match(shown.out, /held by +has-a[^]*waits for b \(lock\), for \d+s/)
    const listed = JSON.parse((await holdfast(['show', 'a', '--json'], { url })).out) as {
      holders: [{ waitsFor: [{ name: string; kind: string }] }]
    }
    assert.deepEqual(
      listed.holders[0].waitsFor.map(({ name, kind }) => [name, kind]),
      [['b', 'lock']],
    )
  })

  onServer(
    'clients that hold and wait crosswise, and do not say in which call → a possible deadlock: 0, with --possible 1',
    async (broken) => {
      const { url } = broken.server
      await ring(broken, ['a', 'b'], 'off')
      const { code, out } = await holdfast(['tree'], { url })
      assert.equal(code, 0)
      assert.match(out, /a \(lock\), held by has-a, for \d+s\n└─ has-b, for \d+s/)
      assert.match(out, /b \(lock\), held by has-b, for \d+s\n└─ has-a, for \d+s/)
      assert.doesNotMatch(out, /^Deadlock/m)
      assert.match(out, /\nPossible deadlock: these clients hold and wait crosswise\.\n/)
      assert.match(out, /\n {2}- has-a holds a, and a call in it waits for b, for \d+s\n/)
      assert.match(out, /\n {2}- has-b holds b, and a call in it waits for a, for \d+s\n/)
      assert.match(out, /\n {2}holdfast unlock --owner \S+ [ab]\n$/)
      assert.equal((await holdfast(['tree', '--possible'], { url })).code, 1)
      const json = await holdfast(['tree', '--json', '--possible'], { url })
      assert.equal(json.code, 1)
      const { type, calls } = JSON.parse(linesOf(json.out).at(-1) ?? '') as {
        type: string
        calls: readonly Record<string, unknown>[]
      }
      assert.equal(type, 'possible-deadlock')
      assert.deepEqual(calls.map(({ holds, label, waitsFor }) => [holds, label, waitsFor]).sort(), [
        ['a', 'has-a', 'b'],
        ['b', 'has-b', 'a'],
      ])
      const dot = linesOf((await holdfast(['tree', '--dot'], { url })).out)
      assert.equal(dot.filter((line) => line.includes('color=orange style=dashed')).length, 2)
    },
  )

  onServer('a queue that nobody crosses → 0, also with --possible', async (broken) => {
    const [one, two] = [await broken.open({ label: 'one' }), await broken.open({ label: 'two' })]
    await one.lock('a').acquire()
    two
      .lock('a')
      .acquire()
      .catch(() => undefined)
    await broken.until(async () => (await holdfast(['tree'], { url: broken.server.url })).out !== '')
    const { code, out } = await holdfast(['tree', '--possible'], { url: broken.server.url })
    assert.deepEqual([code, /deadlock/i.test(out)], [0, false])
  })

  onServer('a user who may only look is enough', async (broken) => {
    await ring(broken, ['a', 'b'])
    const user = await admit(broken.redis, READER_LINE, 'secret')
    const { code, error } = await holdfast(['tree'], { url: broken.server.url.replace('//', `//${user}@`) })
    assert.deepEqual([code, error], [1, ''])
  })

  onServer('no lock → nothing, and 0', async ({ server }) => {
    assert.deepEqual(await holdfast(['tree'], { url: server.url }), { code: 0, out: '', error: '' })
  })

  for (const [why, args] of [
    ['two arguments', ['x', 'y']],
    ['two formats', ['--dot', '--json']],
  ] as const) {
    void test(`wrong usage: ${why} → 64`, async () => {
      assert.equal((await holdfast(['tree', ...args], { url: 'redis://127.0.0.1:1' })).code, 64)
    })
  }
})
