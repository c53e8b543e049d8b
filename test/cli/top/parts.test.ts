import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ListedLock } from 'holdfast'
import { paint, plainText as textOf } from '#src/cli/text/styled-row.js'
import { widthOf } from '#src/cli/text/width.js'
import { frame, heightOf, type Snapshot } from '#src/cli/top/frame.js'
import { type Key, keysIn } from '#src/cli/top/keys.js'
import { ordered, ORDERS } from '#src/cli/top/order.js'
import { FIRST_VIEW, pressed, rowsFor, selectedRow, type View } from '#src/cli/top/view.js'
import { HIDDEN, STRANGE_NAMES } from '../../support/hostile.js'

const NOW = 1_800_000_000_000

const lockOf = (name: string, more: Partial<ListedLock> = {}): ListedLock => ({
  ...{ name, key: name, kind: 'lock', waiting: [], remaining: 24_000 },
  holders: [{ owner: 'c1:1', client: 'c1', label: 'web-1', since: NOW - 12_000, mode: 'exclusive', count: 1 }],
  ...more,
})

const waiter = (ms: number, client = 'c2'): ListedLock['waiting'][number] => ({
  owner: `${client}:2`,
  client,
  since: NOW - ms,
})

const names = (locks: readonly ListedLock[]): string => locks.map(({ name }) => name).join('')

const snapshotOf = (locks: readonly ListedLock[], more: Partial<Snapshot> = {}): Snapshot => ({
  ...{ where: 'redis://localhost:6379', locks, readAt: NOW, now: NOW },
  ...more,
})

const press = (view: View, keys: readonly Key[], locks: readonly ListedLock[]): View =>
  keys.reduce((now, key) => {
    const next = pressed(now, key, rowsFor(locks, now, NOW), 18)
    return typeof next === 'object' ? next : assert.fail(`it wishes to ${next}`)
  }, view)

const type = (text: string): readonly Key[] => Array.from(text, (typed) => ({ typed }))

const SIZE = { columns: 80, rows: 24 }

/** The lines of the picture. Each fills the terminal exactly. */
const drawn = (snapshot: Snapshot, view: Partial<View> = {}, size = SIZE): readonly string[] => {
  const rows = frame(snapshot, { ...FIRST_VIEW, ...view }, size, [])
  const lines = rows.map((row) => textOf(row))
  for (const line of lines) assert.equal(widthOf(line), size.columns, line)
  return lines
}

void describe('holdfast top, its parts', () => {
  void test('what a terminal sends → keys; what is unknown is left out', () => {
    assert.deepEqual(keysIn('\u001b[A\u001bOB\u001b[5~\r\u001b'), ['up', 'down', 'page up', 'enter', 'escape'])
    assert.deepEqual(keysIn('j漢\u0003\u001a\u007f'), [
      { typed: 'j' },
      { typed: '漢' },
      'interrupt',
      'suspend',
      'backspace',
    ])
    assert.deepEqual(keysIn('\u001b[200~\u0001\u202e\ud800'), [])
  })

  void test('each order, and reversed; equal ones by name', () => {
    const locks = [
      lockOf('d', { remaining: Infinity, waiting: [waiter(5000)] }),
      lockOf('b', { remaining: 100, holders: [] }),
      lockOf('a', { waiting: [waiter(9000), waiter(1000)] }),
      lockOf('c', { holders: [{ owner: 'c1:1', client: 'c1', since: NOW - 99_000, mode: 'exclusive', count: 1 }] }),
    ]
    const inOrder = (reversed: boolean): readonly string[] =>
      ORDERS.map((order) => names(ordered(locks, order, reversed)))
    assert.deepEqual(inOrder(false), ['adbc', 'adbc', 'cadb', 'bacd', 'abcd'])
    assert.deepEqual(inOrder(true), ['bcda', 'bcda', 'badc', 'dacb', 'dcba'])
  })

  void test('the selected lock stays selected when others come before it; when it is gone, the row stays', () => {
    const locks = ['a', 'b', 'c'].map((name) => lockOf(name))
    const view = press(FIRST_VIEW, ['down'], locks)
    assert.equal(selectedRow(rowsFor(locks, view, NOW), view), 1)
    const more = [lockOf('A'), ...locks]
    assert.equal(selectedRow(rowsFor(more, view, NOW), view), 2)
    const less = [lockOf('a'), lockOf('c')]
    assert.equal(selectedRow(rowsFor(less, view, NOW), view), 1)
    assert.equal(selectedRow([], view), 0)
  })

  void test('moving stops at both ends', () => {
    const locks = Array.from({ length: 50 }, (_, i) => lockOf(String(i).padStart(2, '0')))
    const rowAfter = (...keys: Key[]): number => {
      const view = press(FIRST_VIEW, keys, locks)
      return selectedRow(rowsFor(locks, view, NOW), view)
    }
    assert.deepEqual(
      [
        rowAfter('up'),
        rowAfter('page down'),
        rowAfter('end', 'down'),
        rowAfter('end', 'page up'),
        rowAfter('end', 'home'),
      ],
      [0, 18, 49, 31, 0],
    )
  })

  void test('/ filters by name, kind, label and client, whatever the case; Enter keeps it, Esc clears it', () => {
    const locks = [lockOf('Invoice:1'), lockOf('x', { kind: 'fairLock' }), lockOf('y', { waiting: [waiter(1, 'c9')] })]
    const byName: View = { ...FIRST_VIEW, order: 'NAME' }
    const filtered = (text: string): string =>
      names(rowsFor(locks, press(byName, [{ typed: '/' }, ...type(text), 'enter'], locks), NOW))
    assert.deepEqual(['INVO', 'fair', 'C9', 'web', '%'].map(filtered), ['Invoice:1', 'x', 'y', 'Invoice:1xy', ''])
    const typing = press(FIRST_VIEW, [{ typed: '/' }, ...type('q漢'), 'backspace', 'up'], locks)
    assert.deepEqual([typing.filter, typing.typing], ['q', true])
    assert.deepEqual(press(typing, ['escape'], locks).filter, '')
  })

  void test('keys for the program; in the filter, a q is a letter, and Ctrl-C is Ctrl-C', () => {
    const typing = { ...FIRST_VIEW, typing: true }
    const wish = (view: View, key: Key): unknown => pressed(view, key, [], 18)
    assert.deepEqual([wish(FIRST_VIEW, { typed: 'q' }), wish(FIRST_VIEW, { typed: ' ' })], ['quit', 'refresh'])
    assert.deepEqual([wish(typing, 'interrupt'), wish(typing, 'suspend')], ['interrupt', 'suspend'])
    assert.equal((wish(typing, { typed: 'q' }) as View).filter, 'q')
    assert.equal(wish({ ...FIRST_VIEW, page: 'help' }, { typed: 'q' }), 'quit')
    assert.equal((wish({ ...FIRST_VIEW, page: 'help' }, { typed: 'x' }) as View).page, 'list')
    assert.equal((wish(FIRST_VIEW, 'enter') as View).page, 'list', 'there is no lock to show')
  })

  void test('80 x 24: the counts, the order, a row each, the selected lock, the keys', () => {
    const locks = [lockOf('a', { waiting: [waiter(3000)] }), lockOf('b')]
    const lines = drawn(snapshotOf(locks))
    assert.equal(lines.length, 24)
    assert.match(lines[0] ?? '', /^ holdfast top {2}redis:\/\/localhost:6379 +2 locks · 1 blocked · 1 waiting $/)
    assert.match(lines[1] ?? '', /^ by WAITED · 2 rows +$/)
    assert.match(lines[2] ?? '', /^ {2}NAME +KIND +HOLDER +LABEL +AGE +LEFT +WAITING +WAITED/)
    assert.match(lines[3] ?? '', /^> a +lock +c1 +web-1 +12s +24s +1 +3s/)
    assert.match(lines[4] ?? '', /^ {2}b +lock +c1 +web-1 +12s +24s +0 +-/)
    assert.match(lines[21] ?? '', /^ a +$/)
    assert.match(lines[22] ?? '', /^ owner c1:1 +$/)
    assert.match(lines[23] ?? '', /^ q quit/)
  })

  void test('10,000 locks → as many as there are rows, the selected one among them', () => {
    const locks = Array.from({ length: 10_000 }, (_, i) => lockOf(String(i).padStart(5, '0')))
    for (const row of [0, 5000, 9999]) {
      const lines = drawn(snapshotOf(locks), { row })
      assert.match(lines[0] ?? '', /10,000 locks/)
      const chosen = lines.filter((line) => line.startsWith('>'))
      assert.deepEqual(
        chosen.map((line) => line.slice(2, 7)),
        [String(row).padStart(5, '0')],
      )
    }
    const began = performance.now()
    for (let i = 0; i < 10; i++) drawn(snapshotOf(locks), { order: 'NAME' })
    assert.ok((performance.now() - began) / 10 < 200)
  })

  void test('names of 200 characters, wide ones and hostile ones → every line is as wide as the terminal, and plain', () => {
    const strange = [...STRANGE_NAMES, 'x'.repeat(200), '漢字'.repeat(50), 'e\u0301'.repeat(80)]
    const holders = (label: string): ListedLock['holders'] => [
      { owner: label, client: label, label, mode: 'exclusive', count: 1 },
    ]
    const locks = strange.map((name) => lockOf(name, { holders: holders(name) }))
    for (const columns of [40, 80, 200]) {
      for (const rows of [8, 24, 60]) {
        for (const page of ['list', 'lock', 'help'] as const) {
          for (const selected of locks) {
            const view = { ...FIRST_VIEW, page, filter: '', selected: `lock ${selected.key}` }
            for (const row of frame(snapshotOf(locks), view, { columns, rows }, [])) {
              assert.equal(widthOf(textOf(row)), columns)
              assert.doesNotMatch(textOf(row), HIDDEN)
            }
          }
        }
      }
    }
  })

  void test('more rows than fit → which ones are seen; while the filter is typed, the last line has its keys', () => {
    const locks = Array.from({ length: 990 }, (_, i) => lockOf(String(i).padStart(3, '0')))
    assert.match(drawn(snapshotOf(locks))[1] ?? '', /rows 1–18 of 990 *$/)
    assert.match(drawn(snapshotOf(locks), { row: 989 })[1] ?? '', /rows 973–990 of 990 *$/)
    assert.match(drawn(snapshotOf(locks.slice(0, 18)))[1] ?? '', /18 rows *$/)
    assert.match(
      drawn(snapshotOf(locks), { typing: true }).at(-1) ?? '',
      /^ Enter keep the filter {2}Esc clear it {2}Ctrl-C quit *$/,
    )
  })

  void test('a text that is wider than the terminal → goes on in the next line, whole', () => {
    const [holder = assert.fail()] = lockOf('a').holders
    const locks = [lockOf('a', { holders: [{ ...holder, label: Array(12).fill('日本語の').join(' ') }] })]
    for (const page of ['lock', 'help'] as const) {
      const view = { page, selected: 'lock a' }
      const text = (columns: number): string =>
        drawn(snapshotOf(locks), view, { columns, rows: 60 }).join(' ').replaceAll(/\s+/g, ' ')
      assert.equal(text(44), text(200), page)
    }
  })

  void test('no lock, or none that matches → it says so', () => {
    assert.match(drawn(snapshotOf([]))[3] ?? '', /No lock has been held or waited for/)
    assert.match(drawn(snapshotOf([lockOf('a')]), { filter: 'z' })[3] ?? '', /No lock matches/)
  })

  void test('the server is away → why, and how old the list is', () => {
    const lines = drawn(snapshotOf([lockOf('a')], { trouble: 'cannot reach the server', now: NOW + 7000 }))
    assert.match(lines[0] ?? '', /^ cannot reach the server +as of 7s ago $/)
    assert.match(lines[3] ?? '', /^> a/)
  })

  void test('Enter shows the lock; once it is gone, no other one in its place', () => {
    const locks = [lockOf('a'), lockOf('b', { remaining: Infinity })]
    const view = press(FIRST_VIEW, ['down', 'enter'], locks)
    const lines = drawn(snapshotOf(locks), view)
    assert.match(
      lines.join('\n'),
      /b \(lock\)[^]+held by +web-1, for 12s[^]+holdfast unlock \\ *\n +--owner c1:1 \\ *\n +b/,
    )
    const gone = drawn(snapshotOf([lockOf('a')]), view).join('\n')
    assert.match(gone, /neither held nor waited for/)
    assert.doesNotMatch(gone, /unlock/)
  })

  void test('colours: red for a lock without expiry, bold for a blocked one; none with NO_COLOR', () => {
    const locks = [lockOf('a'), lockOf('b', { remaining: Infinity }), lockOf('c', { waiting: [waiter(1)] })]
    const rows = frame(snapshotOf(locks), { ...FIRST_VIEW, order: 'NAME' }, SIZE, []).slice(3, 6)
    assert.deepEqual(
      rows.map((row) => row[0]?.style),
      ['chosen', 'bad', 'strong'],
    )
    for (const row of rows) assert.equal(paint(row, false), textOf(row))
  })

  void test('a terminal that is too small → it says so', () => {
    assert.deepEqual(drawn(snapshotOf([]), {}, { columns: 39, rows: 24 }), ['This terminal is too small: 40 x 8 at …'])
    assert.equal(heightOf({ columns: 40, rows: 8 }), 2)
  })
})
