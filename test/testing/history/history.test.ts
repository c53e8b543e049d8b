import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CallEvent, HistoryEvent, HistoryOptions, Rule, Violation } from 'holdfast/testing'
import { checkHistory, explain } from 'holdfast/testing'
import { seeded } from '../../support/random.js'
import { modelHistory } from './lock-model.js'
import { broken, good } from './written-histories.js'

const STRICT: HistoryOptions = { fair: true, forgottenAfter: 1000 }

const told = (violations: readonly Violation[]): string => violations.map(explain).join('\n\n')

const fits = (text: string): void => {
  const lines = text.split('\n')
  assert.ok(lines.length <= 24, `${lines.length} lines`)
  for (const line of lines) assert.ok(line.length <= 100, line)
}

void describe('histories that are as they should be', () => {
  for (const { name, events, options } of good) {
    void test(`${name} → no violation`, () => {
      const violations = checkHistory(events, { ...STRICT, ...options })
      assert.equal(told(violations), '')
    })
  }

  void test('random histories of a model → no violation', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const violations = checkHistory(modelHistory(seed), { ...STRICT, noticedWithin: 20 })
      assert.equal(told(violations), '', `seed ${seed}`)
    }
  })
})

void describe('histories that cannot be', () => {
  for (const { name, events, options, rule, first, second } of broken) {
    void test(`${name} → ${rule}, and the two events by name`, () => {
      const violations = checkHistory(events, { ...STRICT, ...options })
      assert.deepEqual(
        violations.map((one) => [one.rule, one.first, one.second]),
        [[rule, first, second]],
        told(violations),
      )
      fits(told(violations))
    })
  }
})

type Change = (event: CallEvent, history: readonly HistoryEvent[]) => readonly HistoryEvent[] | undefined

const eventsOf = (history: readonly HistoryEvent[], name: string): CallEvent[] =>
  history.filter((event): event is CallEvent => 'call' in event && event.name === name)

/** Each makes of one event of a valid history something that cannot be; undefined: not of this one. */
const changes: Record<string, Change> = {
  left: (event, history) => {
    const needed = ['invoke', 'releasing', 'released', 'refused', 'lost'].includes(event.what)
    return needed ? history.filter((other) => other !== event) : undefined
  },
  doubled: (event, history) =>
    event.what === 'checked' ? undefined : history.flatMap((one) => (one === event ? [one, one] : [one])),
  renamed: (event, history) =>
    event.what === 'invoke' ? undefined : history.map((one) => (one === event ? { ...event, name: 'other' } : one)),
  'of another process': (event, history) =>
    event.what === 'invoke' ? undefined : history.map((one) => (one === event ? { ...event, process: 'p9' } : one)),
  'granted within the hold before': (event, history) => {
    if (event.what !== 'granted') return undefined
    const all = eventsOf(history, event.name)
    const invoke = all.find(({ call, what }) => call === event.call && what === 'invoke')
    const before = all
      .filter(({ call, what, at }) => call !== event.call && what === 'granted' && at < event.at)
      .filter(({ at }) => at > (invoke?.at ?? 0) + 1)
      .at(-1)
    const mode = all.find(({ call, what }) => call === before?.call && what === 'invoke')?.mode
    if (before === undefined || invoke?.mode === 'shared' || mode === 'shared') return undefined
    return history.map((one) => (one === event ? { ...event, at: before.at + 0.01 } : one))
  },
  'with the token before': (event, history) => {
    if (event.what !== 'granted') return undefined
    const before = eventsOf(history, event.name).find(({ token }) => Number(token) === Number(event.token) - 1)
    if (before === undefined) return undefined
    return history.map((one) => (one === event ? { ...event, token: before.token } : one))
  },
}

void describe('one event of a random history changed', () => {
  for (const [name, change] of Object.entries(changes)) {
    void test(`${name} → told`, () => {
      let tried = 0
      for (let seed = 1; seed <= 100; seed++) {
        const random = seeded(seed)
        const history = modelHistory(seed, { steps: 100, locks: 2, forced: false })
        for (let attempt = 0; attempt < 20; attempt++) {
          const event = history[Math.floor(random() * history.length)]
          const changed = event !== undefined && 'call' in event ? change(event, history) : undefined
          if (changed === undefined) continue
          tried += 1
          const violations = checkHistory(changed, { ...STRICT, noticedWithin: 20 })
          assert.ok(violations.length > 0, `seed ${seed}: ${JSON.stringify(event)}`)
          fits(explain(violations[0] as Violation))
          break
        }
      }
      assert.ok(tried > 20, `${tried} tried`)
    })
  }
})

void test('a million events → within seconds, and the one violation is found', { timeout: 120_000 }, () => {
  const events: CallEvent[] = []
  for (let index = 0; events.length < 1_000_000; index++) {
    const [call, name, process] = [String(index), `lock${index % 7}`, `p${index % 4}`]
    const at = index * 10
    const step = (what: CallEvent['what'], after: number, more: Partial<CallEvent> = {}): void => {
      events.push({ at: at + after, what, process, call, name, ...more })
    }
    step('invoke', -50)
    step('granted', 0, { until: at + 100, token: String(index) })
    step('checked', 20, { until: at + 120 })
    step('releasing', index === 70_000 ? 75 : 60)
    step('released', index === 70_000 ? 76 : 65)
  }
  const began = performance.now()
  const violations = checkHistory(events, { forgottenAfter: 1000 })
  const rules: Rule[] = violations.map(({ rule }) => rule)
  assert.deepEqual(rules, ['exclusion'], told(violations))
  assert.ok(performance.now() - began < 30_000)
})

void test('more violations than the limit → so many of each rule', () => {
  const events = Array.from({ length: 50 }, (_, index): HistoryEvent[] => {
    const step = { process: 'p', call: String(index), name: 'x' }
    return [
      { at: index, what: 'invoke', ...step },
      { at: index, what: 'granted', ...step },
    ]
  }).flat()
  const violations = checkHistory(events, { limit: 3 })
  assert.deepEqual(
    violations.map(({ rule }) => rule),
    ['exclusion', 'exclusion', 'exclusion', 'endless', 'endless', 'endless'],
  )
})

void test('names with escape codes and great length → shown on one screen, harmless', () => {
  const name = `\u001b[2J${'x'.repeat(500)}`
  const events: HistoryEvent[] = [{ at: 1, what: 'granted', process: '\n\r', call: '\u009b1', name }]
  const text = told(checkHistory(events))
  fits(text)
  assert.doesNotMatch(text, /[^\P{C}\n]/u)
})
