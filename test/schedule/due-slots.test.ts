import assert from 'node:assert/strict'
import { once, getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import {
  BusyError,
  ClosedError,
  EngineError,
  LockLostError,
  ReplicationError,
  type SlotOptions,
  type SlotResult,
  type SlotRun,
  type Slots,
} from 'holdfast'
import { schedule, type ScheduledRun, type ScheduleOptions } from 'holdfast/schedule'
import { virtualClock } from 'holdfast/testing'

const SECOND = 1000
const MINUTE = 60 * SECOND
const DAY = 24 * 60 * MINUTE

type Run = (slot: Date, options: SlotOptions, work: (run: SlotRun) => unknown) => Promise<SlotResult<unknown>>

const ran: Run = async (slot, _options, work) => {
  const { signal } = new AbortController()
  const run = { slot: slot.toISOString(), signal, remaining: () => 1000, token: 1n, attempt: 1 }
  return { outcome: 'ran', value: await work(run), token: 1n, attempt: 1 }
}
const skipped = (reason: 'running' | 'early' | 'crashed'): SlotResult<unknown> => ({ outcome: 'skipped', reason })

/** A schedule of each minute on slots that do as they are told: a whole minute has just begun, and the slot of the next is due in a minute. */
const stage = async (
  slots: Partial<Omit<Slots, 'run'>> & { run?: Run },
  options: Partial<ScheduleOptions> = {},
  work?: (run: ScheduledRun) => unknown,
) => {
  const clock = virtualClock(1)
  await clock.advance(MINUTE - (clock.now() % MINUTE) + 1)
  const begun = clock.now() - 1
  const nth = (slot: Date | number): number => (Number(slot) - begun) / MINUTE
  const closing = new AbortController()
  const works: number[] = []
  const results: string[] = []
  const missed: number[][] = []
  const errors: unknown[] = []
  const asked = {
    name: 'jobs',
    now: () => Promise.resolve(clock.now()),
    last: () => Promise.resolve(undefined),
    inspect: () => Promise.resolve({ state: 'ran', by: { client: 'other' }, attempt: 1 }),
    skip: () => Promise.resolve(true),
    run: ran,
    ...slots,
  } as unknown as Slots
  const open = () =>
    schedule(
      { slots: () => asked, closing: closing.signal },
      'jobs',
      {
        ...{ cron: '* * * * *', clock },
        onResult: (result, slot) => {
          results.push(`${nth(slot)} ${result.outcome === 'skipped' ? result.reason : result.outcome}`)
        },
        onMissed: (all) => void missed.push(all.map(nth)),
        onError: (error) => void errors.push(error),
        ...options,
      },
      (run) => {
        works.push(nth(run.due))
        return work?.(run)
      },
    )
  return { clock, begun, nth, closing, works, results, missed, errors, open }
}

describe('the open slots of a schedule', () => {
  const passing: [string, () => Promise<SlotResult<unknown>>][] = [
    ['it did not reach a replica', () => Promise.reject(new ReplicationError('jobs', 1, 10))],
    ['the lock is lost', () => Promise.reject(new LockLostError('jobs', 'gone'))],
    ['too many wait', () => Promise.reject(new BusyError('jobs', 1))],
    ['the server is away', () => Promise.reject(new EngineError('OFFLINE', 'away'))],
    ['the server has no memory', () => Promise.reject(new EngineError('OOM', 'no memory'))],
    ['another has the lock and has claimed nothing yet', () => Promise.resolve(skipped('running'))],
    ['the clock that decides is behind', () => Promise.resolve(skipped('early'))],
  ]
  for (const [what, trouble] of passing)
    void test(`${what}, twice → looked at again within seconds, and it runs`, async () => {
      let tries = 0
      const run: Run = (...asked) => (tries++ < 2 ? trouble() : ran(...asked))
      const { clock, works, results, open } = await stage({ run })
      const one = await open()
      await clock.advance(MINUTE + 4 * SECOND)
      assert.deepEqual([works, results], [[1], ['1 ran']])
      await one.stop()
    })

  void test('a run fails while a long pause has begun → the slot is looked at a second later', async () => {
    const { clock, works, open } = await stage(
      {
        run: async (...asked) => {
          if (clock.now() % MINUTE > 8 * SECOND) return ran(...asked)
          await new Promise<void>((resolve) => void clock.setTimer(resolve, 5 * SECOND))
          throw new EngineError('NO_REPLY', 'away')
        },
      },
      { grace: 20 * SECOND },
    )
    const one = await open()
    await clock.advance(MINUTE + 14 * SECOND)
    assert.deepEqual(works, [1])
    await one.stop()
  })

  void test('a process that runs a slot and dies → told by those that did not wait', async () => {
    let state: 'running' | 'crashed' = 'running'
    const by = { client: 'other' }
    const run: Run = () => Promise.resolve({ outcome: 'skipped', reason: state, by })
    const { clock, results, open } = await stage({ run, skip: () => Promise.resolve(false) }, { cron: '0 * * * *' })
    const one = await open()
    await clock.advance(60 * MINUTE + 40 * SECOND)
    assert.deepEqual(results, [])
    state = 'crashed'
    await clock.advance(20 * SECOND)
    assert.equal(results.length, 1)
    assert.match(results[0]!, /crashed/)
    await one.stop()
  })

  for (const state of ['crashed', 'running', 'ran'] as const)
    void test(`the newest slot before the start is ${state} → ${state === 'ran' ? 'left alone' : 'looked at'}`, async () => {
      const { clock, begun, results, open } = await stage({
        last: () => Promise.resolve(new Date(begun - MINUTE)),
        inspect: () => Promise.resolve({ state, by: { client: 'other' }, attempt: 1 }),
        skip: () => Promise.resolve(false),
        run: () => Promise.resolve(skipped('crashed')),
      })
      const one = await open()
      await clock.advance(3 * SECOND)
      const expected = state === 'ran' ? ['0 crashed'] : ['-1 crashed', '0 crashed']
      assert.deepEqual(results.sort(), expected)
      await one.stop()
    })

  for (const [retention, expected] of [
    [2 * MINUTE, [-1]],
    // Its record has expired, perhaps after it ran.
    [59 * SECOND, []],
  ] as const)
    void test(`the newest claim before the start is gone, kept for ${retention} ms → ${expected.length} run`, async () => {
      const { clock, begun, works, missed, open } = await stage(
        { last: () => Promise.resolve(new Date(begun - MINUTE)), inspect: () => Promise.resolve(undefined) },
        { retention, grace: Math.min(retention, 90 * SECOND) - SECOND },
      )
      const one = await open()
      await clock.advance(3 * SECOND)
      assert.deepEqual([works.filter((slot) => slot < 0), missed], [expected, []])
      await one.stop()
    })

  const AHEAD = 400 * DAY
  const ahead: [string, number, Partial<ScheduleOptions>, number][] = [
    ['one ran half an hour ago', -30, {}, 29],
    ['one ran longer ago than is looked at', -200, {}, 99],
    ['older records may be gone', -200, { retention: 10 * MINUTE }, 9],
  ]
  for (const [what, claimed, options, late] of ahead)
    void test(`the last slot lies in the future, ${what} → those after it are missed`, async () => {
      const { clock, nth, missed, works, open } = await stage(
        {
          last: () => Promise.resolve(new Date(clock.now() + AHEAD)),
          inspect: (slot) => {
            const state = nth(slot as Date) === claimed ? 'ran' : undefined
            return Promise.resolve(state && { state, by: { client: 'other' }, attempt: 1 })
          },
        },
        options,
      )
      const one = await open()
      await clock.advance(SECOND)
      const expected = Array.from({ length: late }, (_, i) => i - late)
      assert.deepEqual([missed, works], [[expected], [0]])
      await one.stop()
    })

  void test('stop while another runs the slot → it waits for nobody and begins nothing', async () => {
    const run: Run = (_slot, { signal }) =>
      new Promise((_resolve, reject) => {
        signal!.addEventListener('abort', () => reject(signal!.reason as Error))
      })
    const { clock, works, errors, open } = await stage({ run }, { retry: 1 })
    const one = await open()
    await clock.advance(MINUTE + SECOND)
    await one.stop()
    assert.deepEqual([works, errors], [[], []])
  })

  void test('stop while it asks which slots are due → none begins', async () => {
    let answer: (() => void) | undefined
    const { clock, works, open } = await stage({
      now: async () => {
        if (clock.now() % MINUTE < 5 && clock.now() > begun + SECOND)
          await new Promise<void>((resolve) => (answer = resolve))
        return clock.now()
      },
    })
    const begun = clock.now()
    const one = await open()
    await clock.advance(MINUTE + SECOND)
    const stopped = one.stop()
    answer!()
    await stopped
    assert.deepEqual(works, [])
  })

  void test('the server’s clock jumps ahead for a moment → slots go on, and none comes twice', async () => {
    let ahead = 0
    const { clock, works, results, open } = await stage({ now: () => Promise.resolve(clock.now() + ahead) })
    const one = await open()
    await clock.advance(MINUTE + SECOND)
    // Only the newest 100 of the slots in between are missed.
    ahead = 180 * MINUTE
    await clock.advance(20 * SECOND)
    ahead = 0
    await clock.advance(3 * MINUTE)
    assert.deepEqual(works.slice(-3), [2, 3, 4])
    assert.equal(new Set(results).size, results.length)
    await one.stop()
  })

  void test('the server’s clock is set back over a slot that ran → its result is told once', async () => {
    let back = 0
    const { clock, results, open } = await stage({ now: () => Promise.resolve(clock.now() - back) })
    const one = await open()
    await clock.advance(MINUTE + SECOND)
    back = 5 * SECOND
    await clock.advance(20 * SECOND)
    back = 0
    await clock.advance(20 * SECOND)
    assert.deepEqual(results, ['1 ran'])
    await one.stop()
  })

  void test('one of the missed slots cannot be skipped → the others are told, and it later', async () => {
    let refuse = true
    const { clock, begun, missed, works, open } = await stage(
      {
        last: () => Promise.resolve(new Date(begun - 5 * MINUTE)),
        skip: (slot) => {
          const broken = refuse && Number(slot) === begun - 2 * MINUTE
          return broken ? Promise.reject(new EngineError('NO_REPLY', 'away')) : Promise.resolve(true)
        },
      },
      { grace: 30 * SECOND },
    )
    const one = await open()
    await clock.advance(10)
    assert.deepEqual([missed, works], [[[-4, -3, -1]], [0]])
    refuse = false
    await clock.advance(3 * SECOND)
    assert.deepEqual(missed.slice(1), [[-2]])
    await one.stop()
  })

  void test('back after longer than the retention → nothing is judged whose record is gone', async () => {
    const server: { last: Date | undefined } = { last: undefined }
    const { clock, missed, works, open } = await stage(
      { last: () => Promise.resolve(server.last) },
      { cron: '0 0 * * *', retention: 2 * DAY },
    )
    const one = await open()
    await clock.advance(SECOND)
    // Suspended: others ran all slots, and the records of most are gone.
    const leap = clock.now()
    const slept = 10 * DAY
    Object.defineProperty(clock, 'now', { value: () => leap + slept + (clock.monotonic() - mono) })
    const mono = clock.monotonic()
    server.last = new Date(Math.floor((leap + slept) / DAY) * DAY)
    await clock.advance(MINUTE)
    assert.deepEqual([missed, works], [[], []])
    await one.stop()
  })

  void test('many slots are due at once → the newest begins, and the others one after another', async () => {
    let running = 0
    let most = 0
    const { clock, begun, works, open } = await stage(
      { last: () => Promise.resolve(new Date(begun - 6 * MINUTE)) },
      { grace: 30 * MINUTE },
      async () => {
        most = Math.max(most, ++running)
        await new Promise<void>((resolve) => void clock.setTimer(resolve, 2 * SECOND))
        running--
      },
    )
    const one = await open()
    await clock.advance(20 * SECOND)
    assert.deepEqual(
      works.sort((a, b) => a - b),
      [-5, -4, -3, -2, -1, 0],
    )
    assert.equal(most, 2)
    await one.stop()
  })

  void test('trouble of every round → told once until it is over', async () => {
    let refuses: string | undefined = 'NOPERM'
    const { clock, errors, open } = await stage({
      now: () =>
        refuses === undefined
          ? Promise.resolve(clock.now())
          : Promise.reject(new EngineError(refuses as 'NOPERM', 'no')),
    })
    const one = await open()
    await clock.advance(10 * SECOND)
    assert.equal(errors.length, 1)
    refuses = undefined
    await clock.advance(20 * SECOND)
    refuses = 'OFFLINE'
    await clock.advance(20 * SECOND)
    assert.equal(errors.length, 1)
    refuses = 'NOPERM'
    await clock.advance(20 * SECOND)
    assert.equal(errors.length, 2)
    await one.stop()
  })

  for (const trouble of ['away', 'back'] as const)
    void test(`a slot is open and the server’s clock is ${trouble} → it is asked once a second at most`, async () => {
      let asked = 0
      let wrong = false
      const { clock, works, open } = await stage({
        now: () => {
          asked++
          if (wrong && trouble === 'away') return Promise.reject(new EngineError('OFFLINE', 'away'))
          return Promise.resolve(clock.now() - (wrong ? 30 * MINUTE : 0))
        },
        run: (...all) => {
          if (works.length > 0 || clock.now() % MINUTE > 10 * SECOND) return ran(...all)
          wrong = true
          return Promise.reject(new EngineError('OFFLINE', 'away'))
        },
      })
      const one = await open()
      await clock.advance(MINUTE + 2 * SECOND)
      asked = 0
      await clock.advance(20 * SECOND)
      assert.ok(asked <= 21, String(asked))
      wrong = false
      await clock.advance(16 * SECOND)
      assert.deepEqual(works, [1])
      await one.stop()
    })

  void test('another program has written to a key of the slots → told once, asked again each 15 s, and run when it is mended', async () => {
    let tries = 0
    const run: Run = (...call) =>
      ++tries < 3 ? Promise.reject(new EngineError('WRONG_KIND', `no slot ${tries}`)) : ran(...call)
    const { clock, errors, works, open } = await stage({ run })
    const one = await open()
    await clock.advance(MINUTE + 29 * SECOND)
    assert.deepEqual([errors.length, tries, works.length], [1, 2, 0])
    await clock.advance(5 * SECOND)
    assert.deepEqual([errors.length, tries, works.length], [1, 3, 1])
    await one.stop()
  })

  void test('a listener that rejects → a warning, and the schedule goes on', async () => {
    const { clock, works, open } = await stage(
      {},
      { onResult: () => Promise.reject(new Error('broken listener')) as never },
    )
    const one = await open()
    const warned = once(process, 'warning') as Promise<Error[]>
    await clock.advance(2 * MINUTE + SECOND)
    const [warning] = await warned
    assert.match(warning!.message, /a listener threw: Error: broken listener/)
    assert.deepEqual(works, [1, 2])
    await one.stop()
  })

  void test('stop → no listener is left at the signals', async () => {
    const { signal } = new AbortController()
    const { closing, open } = await stage({}, { signal })
    const one = await open()
    await one.stop()
    assert.deepEqual(
      [closing.signal, signal].map((it) => getEventListeners(it, 'abort').length),
      [0, 0],
    )
  })

  void test('a client that is closed, a pattern without dates, a grace above the retention → rejects', async () => {
    const { closing, open } = await stage({})
    closing.abort()
    await assert.rejects(open(), ClosedError)
    await assert.rejects((await stage({}, { cron: '0 0 31 2 *' })).open(), /cannot compute slots for '0 0 31 2 \*'/)
    await assert.rejects((await stage({}, { grace: MINUTE, retention: MINUTE })).open(), RangeError)
    await assert.rejects((await stage({}, { grace: Infinity })).open(), RangeError)
  })
})
