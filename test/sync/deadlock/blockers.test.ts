import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { blockersOf } from '#src/sync/deadlock/blockers.js'
import type { GraphWait } from '#src/sync/deadlock/wait-graph.js'

const client = (n: number): string => `00000000-0000-4000-8000-00000000000${n}`
const owner = (n: number, number: number): string => `${client(n)}:123456789${number}`

const wait = (kind: string, by = 1): GraphWait => {
  const told = { number: 1, kind, key: 'k', name: 'k', keys: [], since: 1, breaks: false, holds: [] }
  return { id: `${client(by)}:1`, client: client(by), told, own: undefined }
}

const reader = (n: number) => ({ owner: owner(n, 7), count: 1, mode: 'read' as const })
const writer = (n: number) => ({ owner: `${owner(n, 8)}:write`, count: 1, mode: 'write' as const })
const place = (name: string) => ({ owner: name, deadline: 1 })

void describe('which holds a wait is for', () => {
  void test('a writer: all that read; a reader: the writer, but no reader', () => {
    const state = {
      ttl: 1,
      holders: [reader(2), reader(3)],
      waiting: [place(owner(1, 1)), place(`${owner(4, 1)}:write`)],
    }
    assert.deepEqual(blockersOf(wait('readWriteLock.write'), state), [owner(2, 7), owner(3, 7)])
    assert.deepEqual(blockersOf(wait('readWriteLock.read'), state), [], 'the writer is behind it')
    const written = { ...state, holders: [writer(2)] }
    assert.deepEqual(blockersOf(wait('readWriteLock.read'), written), [`${owner(2, 8)}:write`])
  })

  void test('a reader behind a writer in the line: those that read', () => {
    const waiting = [place(`${owner(4, 1)}:write`), place(owner(1, 1))]
    assert.deepEqual(blockersOf(wait('fairReadWriteLock.read'), { ttl: 1, holders: [reader(2)], waiting }), [
      owner(2, 7),
    ])
  })

  void test('a reader behind a writer that is dead, or has not asked for three seconds: none', () => {
    const line = (late: number) => [
      { owner: `${owner(4, 1)}:write`, deadline: 20_000 - late },
      { owner: owner(1, 1), deadline: 20_000 },
    ]
    const blockers = (late: number): readonly string[] =>
      blockersOf(wait('readWriteLock.read'), { ttl: 1, holders: [reader(2)], waiting: line(late) })
    assert.deepEqual(blockers(2999), [owner(2, 7)])
    assert.deepEqual(blockers(3001), [])
  })

  void test('a client that neither stands in the line nor holds the lock: none, unless the kind has no line', () => {
    const state = { ttl: 1, holders: [{ owner: owner(2, 7), count: 1 }], waiting: [] }
    assert.deepEqual(blockersOf(wait('lock'), state), [])
    assert.deepEqual(blockersOf(wait('lock', 2), state), [owner(2, 7)])
    assert.deepEqual(blockersOf(wait('spinLock'), state), [owner(2, 7)])
    const lined = { ...state, waiting: [place(owner(3, 1))] }
    assert.deepEqual(blockersOf(wait('spinLock'), lined), [], 'a spin lock has no line')
  })
})
