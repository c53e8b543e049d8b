import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { connect, type SlotResult } from 'holdfast'
import { schedule, type ScheduleOptions } from 'holdfast/schedule'
import { virtualClock } from 'holdfast/testing'

type Clock = ReturnType<typeof virtualClock>
type Client = Awaited<ReturnType<typeof connect>>

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

let servers = 0
let closing: (() => Promise<void>)[] = []

/** A server whose clock is right, and processes whose wall clocks are off by so much. */
const stage = async (...offsets: number[]) => {
  const clock = virtualClock(1)
  const url = `memory:schedule-${servers++}-${process.pid}`
  const keeper = await connect({ url, clock, presence: false })
  const clients: Client[] = [keeper]
  const run = async <T>(promise: Promise<T>): Promise<T> => {
    let over = false
    const done = (): void => void (over = true)
    promise.then(done, done)
    for (let step = 0; !over && step < 100_000; step++) await clock.advance(5)
    return promise
  }
  const places = await Promise.all(
    offsets.map(async (offset) => {
      const own: Clock = Object.create(clock) as Clock
      Object.defineProperties(own, {
        now: { value: () => clock.now() + offset },
        monotonic: { value: () => clock.monotonic() },
        setTimer: { value: clock.setTimer.bind(clock) },
        randomBytes: { value: clock.randomBytes.bind(clock) },
        random: { value: clock.random.bind(clock) },
      })
      const client = await run(connect({ url, clock: own, presence: false, label: `${offset}` }))
      clients.push(client)
      return { client, clock: own }
    }),
  )
  closing.push(async () => {
    await run(Promise.all(clients.map((client) => client.close())))
  })
  return { clock, run, places, pause: (ms: number) => new Promise<void>((resolve) => void clock.setTimer(resolve, ms)) }
}

const iso = (at: number): string => new Date(at).toISOString()

describe('a schedule', () => {
  afterEach(async () => {
    const all = closing
    closing = []
    for (const close of all) await close()
  })

  void test('three processes whose clocks are an hour apart → each minute runs once, at its time by the server', async () => {
    const { clock, run, places } = await stage(0, HOUR, -HOUR)
    const ran: [string, string][] = []
    const outcomes: string[] = []
    const schedules = await run(
      Promise.all(
        places.map(({ client, clock: own }) => {
          const options: ScheduleOptions = {
            cron: '* * * * *',
            clock: own,
            onResult: (result: SlotResult<unknown>) => outcomes.push(result.outcome),
          }
          return schedule(client, 'jobs', options, ({ due }) => void ran.push([due.toISOString(), iso(clock.now())]))
        }),
      ),
    )
    await clock.advance(10 * MINUTE)
    assert.ok(schedules[0]!.next!.getTime() > clock.now())
    await run(Promise.all(schedules.map((one) => one.stop())))
    assert.equal(ran.length, 10)
    assert.equal(new Set(ran.map(([slot]) => slot)).size, 10)
    for (const [slot, at] of ran) assert.ok(Date.parse(at) - Date.parse(slot) < SECOND, `${slot} at ${at}`)
    assert.deepEqual(
      ['ran', 'skipped', 'failed'].map((outcome) => outcomes.filter((one) => one === outcome).length),
      [10, 20, 0],
    )
  })

  for (const offset of [HOUR, -HOUR, 26 * HOUR])
    void test(`a process whose clock is ${offset / HOUR} hours off, alone → each slot at its time by the server`, async () => {
      const { clock, run, places } = await stage(offset)
      const { client, clock: own } = places[0]!
      const late: number[] = []
      const options = { cron: '*/10 * * * *', clock: own }
      const one = await run(schedule(client, 'jobs', options, ({ due }) => late.push(clock.now() - due.getTime())))
      await clock.advance(HOUR)
      await run(one.stop())
      assert.equal(late.length, 6)
      assert.ok(
        late.every((ms) => ms >= 0 && ms < SECOND),
        late.join(),
      )
    })

  for (const [catchUp, runs, retention] of [
    ['none', [], HOUR],
    ['latest', [3], HOUR],
    // Slots that lie further apart than they are kept.
    ['none', [], 5 * MINUTE],
    ['latest', [3], 5 * MINUTE],
  ] as const)
    void test(`nobody ran for three slots, catchUp '${catchUp}', kept for ${retention} ms → missed ones are reported by one process`, async () => {
      const { clock, run, places } = await stage(0, 0, 0)
      const ran: number[] = []
      const missed: number[] = []
      const begin = (): Promise<Awaited<ReturnType<typeof schedule>>[]> =>
        Promise.all(
          places.map(({ client, clock: own }) =>
            schedule(
              client,
              'jobs',
              {
                cron: '*/10 * * * *',
                catchUp,
                retention,
                clock: own,
                onMissed: (slots) => missed.push(...slots.map((slot) => slot.getTime())),
              },
              ({ due }) => void ran.push(due.getTime()),
            ),
          ),
        )
      const before = await run(begin())
      await clock.advance(10 * MINUTE)
      await run(Promise.all(before.map((one) => one.stop())))
      assert.equal(ran.length, 1)
      const first = ran[0]!
      await clock.advance(35 * MINUTE)
      const after = await run(begin())
      await clock.advance(2 * SECOND)
      const nth = (at: number): number => (at - first) / (10 * MINUTE)
      assert.deepEqual(ran.slice(1).map(nth), runs)
      assert.deepEqual(
        missed.map(nth).sort(),
        [1, 2, 3].filter((slot) => !runs.includes(slot as never)),
      )
      await clock.advance(10 * MINUTE)
      assert.equal(ran.length, 2 + runs.length, 'and goes on')
      await run(Promise.all(after.map((one) => one.stop())))
    })

  for (const [retry, told] of [
    [0, ['skipped crashed']],
    [1, ['ran']],
  ] as const)
    void test(`the only process dies in a slot, retry ${retry} → after the restart: ${told.join()}`, async () => {
      const { clock, run, places } = await stage(0, 0)
      const [first, second] = places.map(({ client }) => client)
      const options = { cron: '0 * * * *', retry, lease: 5 * SECOND, clock }
      let begun = false
      await run(
        schedule(first!, 'jobs', options, ({ signal }) => {
          begun = true
          return new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason as Error)),
          )
        }),
      )
      await clock.advance(HOUR)
      assert.ok(begun)
      await run(first!.close({ release: false }))
      const results: string[] = []
      const onResult = (result: SlotResult<unknown>): void =>
        void results.push(result.outcome === 'skipped' ? `skipped ${result.reason}` : result.outcome)
      const again = await run(schedule(second!, 'jobs', { ...options, onResult }, () => 1))
      await clock.advance(30 * SECOND)
      assert.deepEqual(results, told)
      await run(again.stop())
    })

  void test('a new schedule → nothing is caught up', async () => {
    const { clock, run, places } = await stage(0)
    const missed: unknown[] = []
    const ran: unknown[] = []
    const { client, clock: own } = places[0]!
    const options = {
      cron: '0 * * * *',
      catchUp: 'latest',
      clock: own,
      onMissed: (slots: unknown) => missed.push(slots),
    } as const
    const one = await run(schedule(client, 'jobs', options, () => ran.push(1)))
    await clock.advance(10 * SECOND)
    await run(one.stop())
    assert.deepEqual([ran, missed], [[], []])
  })

  void test('a machine that was suspended over three slots → they are missed, the next one runs', async () => {
    const { clock, run, places } = await stage(0)
    const { client } = places[0]!
    const missed: unknown[] = []
    const ran: unknown[] = []
    let asleep = 0
    // What it slept through its timers have not counted.
    const own = Object.assign(Object.create(clock) as Clock, {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      setTimer: (callback: () => void, ms: number) => clock.setTimer(callback, ms + (asleep > 0 ? asleep : 0)),
    })
    const options = { cron: '*/10 * * * *', clock: own, onMissed: (slots: readonly Date[]) => missed.push(...slots) }
    const one = await run(schedule(client, 'jobs', options, () => ran.push(1)))
    await clock.advance(10 * MINUTE)
    assert.equal(ran.length, 1)
    asleep = 35 * MINUTE
    await clock.advance(5 * MINUTE)
    asleep = 0
    await clock.advance(35 * MINUTE)
    assert.equal(missed.length, 3)
    await clock.advance(10 * MINUTE)
    assert.ok(ran.length >= 2)
    await run(one.stop())
  })

  void test('work that fails → told, and the next slot runs; stop waits for what runs', async () => {
    const { clock, run, places, pause } = await stage(0)
    const { client, clock: own } = places[0]!
    const told: string[] = []
    let ended = 0
    const options = {
      cron: '* * * * *',
      clock: own,
      onResult: (result: SlotResult<unknown>) => told.push(result.outcome),
    }
    const one = await run(
      schedule(client, 'jobs', options, async () => {
        if (told.length === 0) throw new Error('broken')
        await pause(5 * SECOND)
        ended++
      }),
    )
    await clock.advance(2 * MINUTE - (clock.now() % MINUTE) + SECOND)
    assert.deepEqual(told, ['failed'])
    await run(one.stop())
    assert.deepEqual([told, ended], [['failed', 'ran'], 1])
    await clock.advance(5 * MINUTE)
    assert.equal(told.length, 2)
  })

  void test('work that changes its date → the result names the slot', async () => {
    const { clock, run, places } = await stage(0)
    const { client, clock: own } = places[0]!
    const told: number[] = []
    const onResult = (_: SlotResult<unknown>, slot: Date): void => void told.push(slot.getTime())
    const one = await run(
      schedule(client, 'jobs', { cron: '* * * * *', clock: own, onResult }, ({ due }) => due.setUTCDate(1)),
    )
    const due = clock.now() + MINUTE - (clock.now() % MINUTE)
    await clock.advance(due - clock.now() + SECOND)
    assert.deepEqual(told, [due])
    await run(one.stop())
  })

  void test('wrong patterns, zones and options → TypeError', async () => {
    const { run, places } = await stage(0)
    const { client } = places[0]!
    const refuse = (options: object, error: object): Promise<void> =>
      assert.rejects(run(schedule(client, 'jobs', options as ScheduleOptions, () => 1)), error as Error)
    await refuse({ cron: '0 25 * * *' }, /cannot compute slots for '0 25 \* \* \*'/)
    await refuse({ cron: '0 2 * * *', timezone: 'Europe/Nowhere' }, /Europe\/Nowhere/)
    await refuse({}, TypeError)
    await refuse({ cron: '0 2 * * *', catchUp: 'all' }, /'none' or 'latest'/)
    await refuse({ cron: '0 2 * * *', timeZone: 'UTC' }, /did you mean 'timezone'/)
    await refuse({ cron: '0 2 * * *', onMissed: 1 }, TypeError)
    for (const retry of [-1, 0.5, 1001]) await refuse({ cron: '0 2 * * *', retry }, RangeError)
    await refuse({ cron: '0 2 * * *', lease: 0.5 }, RangeError)
  })
})

void test('a schedule that was stopped, or whose signal aborted → it has no next slot', async () => {
  await using client = await connect('memory:')
  const stop = new AbortController()
  const aborted = await schedule(client, 'a', { cron: '* * * * *', signal: stop.signal }, () => undefined)
  const stopped = await schedule(client, 'b', { cron: '* * * * *' }, () => undefined)
  assert.ok(aborted.next !== undefined && stopped.next !== undefined)
  stop.abort()
  await stopped.stop()
  assert.deepEqual([aborted.next, stopped.next], [undefined, undefined])
})
