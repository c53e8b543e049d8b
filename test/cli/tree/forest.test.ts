import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ListedHolder, ListedLock, ListedWait, ListedWaiter } from 'holdfast'
import { crossingsOf } from '#src/cli/tree/crossings.js'
import { dotOf } from '#src/cli/tree/dot-graph.js'
import { drawn } from '#src/cli/tree/draw-forest.js'
import { forestOf } from '#src/cli/tree/wait-forest.js'
import { HIDDEN, STRANGE_NAMES } from '../../support/hostile.js'

const NOW = 1_800_000_000_000

const wait = (name: string, more: Partial<ListedWait> = {}): ListedWait => ({
  ...{ name, key: name, kind: 'lock', since: NOW - 5000 },
  ...more,
})

const holder = (
  client: string,
  waitsFor: readonly ListedWait[] = [],
  more: Partial<ListedHolder> = {},
): ListedHolder => ({
  ...{ owner: `${client}:1`, client, label: client, since: NOW - 9000, mode: 'exclusive', count: 1 },
  ...(waitsFor.length > 0 && { waitsFor }),
  ...more,
})

const waiter = (client: string): ListedWaiter => ({ owner: `${client}:2`, client, label: client, since: NOW - 5000 })

const lock = (
  name: string,
  holders: readonly ListedHolder[],
  waiting: readonly ListedWaiter[],
  more: Partial<ListedLock> = {},
): ListedLock => ({ ...{ name, key: name, kind: 'lock', remaining: 20_000 }, holders, waiting, ...more })

const lines = (locks: readonly ListedLock[]): string => drawn(forestOf(locks), NOW, []).join('\n')

const cyclesOf = (locks: readonly ListedLock[]): string[] =>
  forestOf(locks).cycles.map((cycle) =>
    cycle.map((step) => `${step.holder.client}:${step.lock.name}>${step.wait.name}`).join(' '),
  )

void describe('holdfast tree, its parts', () => {
  void test('one lock → its waiters in their order; locks that nobody waits for are left out', () => {
    assert.equal(
      lines([lock('a', [holder('A')], [waiter('B'), waiter('C')]), lock('b', [holder('B')], [])]),
      ['a (lock), held by A, for 9s', '├─ B, for 5s', '└─ C, for 5s'].join('\n'),
    )
  })

  void test('a waiter that holds another lock → that one stands below it, with its own waiters', () => {
    const locks = [
      lock('b', [holder('B', [wait('a')])], [waiter('D')]),
      lock('a', [holder('A')], [waiter('B'), waiter('C')]),
    ]
    assert.equal(
      lines(locks),
      [
        'a (lock), held by A, for 9s',
        '├─ B, for 5s',
        '│  └─ b (lock), held by B, for 9s',
        '│     └─ D, for 5s',
        '└─ C, for 5s',
      ].join('\n'),
    )
    assert.deepEqual(cyclesOf(locks), [])
  })

  void test('two calls that wait for one another → a deadlock, with the command that ends it', () => {
    const locks = [
      lock('a', [holder('A', [wait('b')])], [waiter('B')]),
      lock('b', [holder('B', [wait('a')])], [waiter('A')]),
    ]
    assert.deepEqual(cyclesOf(locks), ['A:a>b B:b>a'])
    const text = lines(locks)
    assert.match(text, /b \(lock\), held by B, for 9s\n +└─ A, for 5s\n +└─ a \(lock\), see above/)
    assert.match(
      text,
      /Deadlock: .*\n {2}- A holds a and waits for b, for 5s\n {2}- B holds b and waits for a, for 5s\n/,
    )
    assert.match(text, /\n {2}holdfast unlock --owner A:1 a$/)
  })

  void test('a cycle of three, and a call that waits for one of them → one deadlock of three', () => {
    const locks = [
      lock('a', [holder('A', [wait('b')])], [waiter('C'), waiter('D')]),
      lock('b', [holder('B', [wait('c')])], [waiter('A')]),
      lock('c', [holder('C', [wait('a')])], [waiter('B')]),
      lock('d', [holder('D', [wait('a')])], [waiter('E')]),
    ]
    assert.deepEqual(cyclesOf(locks), ['A:a>b B:b>c C:c>a'])
  })

  void test('two separate deadlocks → both', () => {
    const pair = (x: string, y: string): ListedLock[] => [
      lock(x, [holder(x, [wait(y)])], [waiter(y)]),
      lock(y, [holder(y, [wait(x)])], [waiter(x)]),
    ]
    assert.equal(cyclesOf([...pair('a', 'b'), ...pair('c', 'd')]).length, 2)
  })

  void test('a call that may go on with the first of two locks → no deadlock while one of them is held by a call that runs', () => {
    const a = lock('a', [holder('A', [wait('b'), wait('c')])], [waiter('B')])
    const b = lock('b', [holder('B', [wait('a')])], [waiter('A')])
    assert.deepEqual(cyclesOf([a, b, lock('c', [holder('C')], [waiter('A')])]), [])
    assert.equal(cyclesOf([a, b, lock('c', [holder('C', [wait('a')])], [waiter('A')])]).length, 1)
  })

  void test('a writer waits for each reader; a reader waits for the writer alone', () => {
    const read = (client: string, waitsFor: readonly ListedWait[] = []): ListedHolder =>
      holder(client, waitsFor, { mode: 'read' })
    const kind = 'readWriteLock'
    const b = lock('b', [holder('W', [wait('a', { kind, mode: 'write' })])], [waiter('R')])
    const a = lock('a', [read('Q'), read('R', [wait('b')])], [waiter('W')], { kind })
    assert.deepEqual(cyclesOf([a, b]), ['R:a>b W:b>a'])
    const written = lock('a', [holder('V', [], { mode: 'write' }), read('R', [wait('b')])], [waiter('W')], { kind })
    const reader = lock('b', [holder('W', [wait('a', { kind, mode: 'read' })])], [waiter('R')])
    assert.deepEqual(cyclesOf([written, reader]), [])
  })

  void test('keys of a group: only those that the call wants', () => {
    const kind = 'keyedLock'
    const wants = (...keys: string[]): ListedWait => wait('g', { kind, keys })
    const group = (waits: ListedWait): ListedLock[] => [
      lock('g', [holder('A', [wait('x')], { keys: ['1'] })], [waiter('B')], { kind }),
      lock('x', [holder('B', [waits])], [waiter('A')]),
    ]
    assert.equal(cyclesOf(group(wants('1', '2'))).length, 1)
    assert.deepEqual(cyclesOf(group(wants('2'))), [])
  })

  void test('a holder that says nothing, such as one of Redisson, can go on', () => {
    assert.deepEqual(
      cyclesOf([lock('a', [holder('A', [wait('b')])], [waiter('J')]), lock('b', [holder('J')], [waiter('A')])]),
      [],
    )
  })

  const crossed = (locks: readonly ListedLock[], before?: readonly ListedLock[]): string[] =>
    crossingsOf(locks, before).map((crossing) =>
      crossing
        .map(({ lock: held, holder: { client }, wanted }) => `${client}:${held.name}>${wanted.name}`)
        .sort()
        .join(' '),
    )

  void test('clients that hold and wait crosswise → a possible deadlock, if both readings show it', () => {
    const a = lock('a', [holder('A')], [waiter('D'), waiter('C')])
    const b = lock('b', [holder('B')], [waiter('A')])
    const c = lock('c', [holder('C')], [waiter('B')])
    assert.deepEqual(crossed([a, b, c]), ['A:a>b B:b>c C:c>a'])
    assert.deepEqual(crossed([a, b, c], [a, b, c]), ['A:a>b B:b>c C:c>a'])
    assert.deepEqual(crossed([a, b, c], [a, b, lock('c', [holder('C', [], { owner: 'C:9' })], [waiter('B')])]), [])
    assert.deepEqual(crossed([a, b, c], [a, b]), [])
    assert.deepEqual(crossed([a, b]), [])
  })

  void test('a client that waits for what it holds itself, and another key of a group → nothing', () => {
    const both = lock(
      'a',
      [holder('A', [], { mode: 'read' }), holder('B', [], { mode: 'read' })],
      [waiter('A'), waiter('B')],
    )
    assert.deepEqual(crossed([both]), [])
    const group = (wanted: string): ListedLock[] => [
      lock('g', [holder('A', [], { keys: ['1'] })], [{ ...waiter('B'), keys: [wanted] }], { kind: 'keyedLock' }),
      lock('x', [holder('B')], [waiter('A')]),
    ]
    assert.deepEqual(crossed(group('1')), ['A:g>x B:x>g'])
    assert.deepEqual(crossed(group('2')), [])
  })

  void test('10,000 clients in one ring → found, and in time', () => {
    const locks = Array.from({ length: 10_000 }, (_, i) =>
      lock(`l${i}`, [holder(`C${i}`)], [waiter(`C${(i + 1) % 10_000}`)]),
    )
    const began = performance.now()
    assert.deepEqual(
      crossingsOf(locks).map(({ length }) => length),
      [10_000],
    )
    assert.ok(performance.now() - began < 20_000)
  })

  void test('hostile names and labels, in the tree and in the graph → each line is plain, and the graph’s texts stay in their quotes', () => {
    for (const name of STRANGE_NAMES) {
      const who = { label: name, client: name, owner: `${name}:1` }
      const locks = [
        lock(name, [holder('A', [wait(name)], who)], [{ ...waiter('B'), ...who }]),
        lock('z"\\', [holder('B')], [waiter('C')]),
      ]
      const forest = forestOf(locks)
      for (const line of [...drawn(forest, NOW, []), ...dotOf(locks, forest)]) assert.doesNotMatch(line, HIDDEN)
      for (const line of dotOf(locks, forest).slice(1, -1))
        assert.match(line, /^ {2}("([^"\\]|\\.)*"|label|color|shape|held|by|red|box|->|[ =[\]])+$/)
    }
  })

  void test('10,000 locks in one chain → drawn, and in time', () => {
    const locks = Array.from({ length: 10_000 }, (_, i) =>
      lock(`l${i}`, [holder(`C${i}`, i === 0 ? [] : [wait(`l${i - 1}`)])], [waiter(`C${i + 1}`)]),
    )
    const began = performance.now()
    const forest = forestOf([...locks].reverse())
    assert.deepEqual(forest.cycles, [])
    const heads = drawn(forest, NOW, []).filter((line) => line.includes(' (lock), held by '))
    assert.equal(heads.length, 10_000)
    assert.ok(performance.now() - began < 20_000)
  })

  void test('a deadlock → the call that has waited the shortest is named, and its lock is in the command', () => {
    const text = lines([
      lock('a', [holder('A', [wait('b', { since: NOW - 9000 })])], [waiter('B')]),
      lock('b', [holder('B', [wait('a', { since: NOW - 4000 })])], [waiter('A')]),
    ])
    const words = text.replaceAll('\n', ' ')
    assert.match(
      words,
      /end one of them, which frees its locks\. B has waited the shortest, so it may lose the least\./,
    )
    assert.match(text, /work is stopped, and the lock is still\nheld:\n {2}holdfast unlock --owner B:1 b$/)
  })
})
