import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { AcquireTimeoutError, ConfigError, EngineError, LockLostError, MembersError } from 'holdfast'
import { environmentOf, withOddNames } from '#src/cli/run/child-environment.js'
import { GuardianDuty, type Order } from '#src/cli/run/guardian-duty.js'
import { codeOfCommand, codeOfError, StartError } from '#src/cli/exit-code.js'
import { EndOnLoss } from '#src/cli/run/end-on-loss.js'
import { descendantsOf, rowOfPs, rowOfStat } from '#src/cli/run/process-table.js'
import { graceOf, paceOf, patienceOf, whatToDo } from '#src/cli/run/when-to-kill.js'
import { UsageError } from '#src/cli/usage-error.js'
import { until } from '../../support/until.js'

void describe('holdfast run: exit codes', () => {
  test('what went wrong before the command → its code', () => {
    const offline = new EngineError('OFFLINE', 'no')
    const errors: readonly (readonly [error: unknown, code: number])[] = [
      [new UsageError('x'), 64],
      [new StartError('x'), 126],
      [offline, 69],
      [new EngineError('LOADING', 'x'), 69],
      [new EngineError('NOPERM', 'x'), 77],
      [new EngineError('WRONGPASS', 'x'), 77],
      [new EngineError('NOAUTH', 'x'), 77],
      [new EngineError('WRONG_KIND', 'x'), 78],
      [new ConfigError('x'), 78],
      [new AcquireTimeoutError('n', 0), 3],
      [new AcquireTimeoutError('n', 10, offline), 69],
      [new MembersError('n', [{ index: 0, name: 'a', error: new EngineError('NOPERM', 'x') }]), 77],
      [new LockLostError('n', 'x'), 79],
      [new Error('x'), 70],
      [undefined, 70],
    ]
    for (const [error, code] of errors) assert.equal(codeOfError(error, 3), code, String(error))
  })

  test('how the command ended → as a shell reports it', () => {
    assert.equal(codeOfCommand({ code: 255, signal: null }), 255)
    assert.equal(codeOfCommand({ code: null, signal: 'SIGKILL' }), 137)
    assert.equal(codeOfCommand({ code: null, signal: 'SIGTERM' }), 143)
    assert.equal(codeOfCommand({ code: null, signal: null, error: { code: 'ENOENT' } }), 127)
    assert.equal(codeOfCommand({ code: null, signal: null, error: { code: 'E2BIG' } }), 126)
  })
})

void describe('holdfast run: its verdict on a hold', () => {
  const pulse = { most: 28_500, grace: undefined, onLost: 'term' } as const
  test('TERM when no more than the grace is left', () => {
    assert.equal(whatToDo({ ...pulse, left: 5001 }), 'fine')
    assert.equal(whatToDo({ ...pulse, left: 5000 }), 'term')
    assert.equal(whatToDo({ ...pulse, left: 0 }), 'term')
    assert.equal(whatToDo({ ...pulse, left: 1, onLost: 'kill' }), 'fine')
    assert.equal(whatToDo({ ...pulse, left: 0, onLost: 'kill' }), 'kill')
    assert.equal(whatToDo({ ...pulse, left: 0, onLost: 'ignore' }), 'fine')
  })

  test('a short lease, and one on trial → the grace is a third, so that a hold that is well is never ended', () => {
    assert.equal(graceOf({ most: 28_500, grace: undefined }), 5000)
    assert.equal(graceOf({ most: 2850, grace: undefined }), 950)
    assert.equal(graceOf({ most: 2850, grace: 60_000 }), 950)
    assert.equal(graceOf({ most: Infinity, grace: undefined }), 5000)
    for (const lease of [1000, 3000, 30_000]) {
      // Renewed when a third is over, and the answer takes a tenth.
      const [most, left] = [lease * 0.95, lease * (0.95 - 1 / 3 - 0.1)]
      assert.equal(whatToDo({ ...pulse, most, left }), 'fine', String(lease))
    }
  })

  test('KILL when nothing is left; later only if --grace says so', () => {
    assert.equal(patienceOf({ ...pulse, left: 4000 }), 4000)
    assert.equal(patienceOf({ ...pulse, left: 0 }), 0)
    assert.equal(patienceOf({ ...pulse, left: 0, grace: 3000 }), 3000)
    assert.equal(patienceOf({ ...pulse, left: 4000, grace: 1000 }), 1000)
  })

  test('looks ten times in a lease, at least each second', () => {
    assert.deepEqual([paceOf(100), paceOf(3000), paceOf(30_000), paceOf(Infinity)], [50, 300, 1000, 1000])
  })
})

/** A hold whose time the test sets, and what its keeper did. */
const kept = (left: number, options: { grace?: number; onLost?: 'term' | 'kill' | 'ignore' } = {}) => {
  const controller = new AbortController()
  const grip = { left, signal: controller.signal, remaining: () => grip.left }
  const did: string[] = []
  const orders: Order[] = []
  const keeper = new EndOnLoss({
    grip,
    onLost: options.onLost ?? 'term',
    grace: options.grace,
    processes: { target: { pid: 1, group: true }, send: (signal) => void did.push(signal) },
    tell: (order) => void orders.push(order),
    say: (what) => void did.push(what),
  })
  const lose = (): void => {
    grip.left = 0
    controller.abort()
  }
  return { keeper, grip, did, orders, lose }
}

void describe('holdfast run: who looks after the hold', () => {
  test('a hold that is well → nothing; the guardian hears of it', async () => {
    const { keeper, did, orders } = kept(2850)
    keeper.start()
    await sleep(700)
    keeper.stop()
    assert.deepEqual(did, [])
    assert.ok(orders.length >= 2)
    assert.deepEqual(orders[0]?.termed, false)
    assert.ok((orders[0]?.termIn ?? 0) > 1900 && (orders[0]?.killIn ?? 0) > 2800)
    assert.equal(keeper.settle(), false)
  })

  test('no more than the grace is left → TERM, CONT, and KILL when it is over', async () => {
    const { keeper, grip, did, orders } = kept(2850)
    keeper.start()
    grip.left = 300
    keeper.check()
    assert.deepEqual(did, ['SIGTERM', 'SIGCONT', 'ends'])
    assert.equal(orders.at(-1)?.termed, true)
    assert.equal(orders.at(-1)?.termIn, null)
    await sleep(150)
    assert.ok(!did.includes('SIGKILL'))
    await until(() => did.includes('SIGKILL'), 1000)
    keeper.stop()
    assert.equal(keeper.ends, true)
  })

  test('lost at once → TERM and KILL in the same moment', () => {
    const { keeper, lose, did } = kept(2850)
    keeper.start()
    lose()
    keeper.stop()
    assert.deepEqual(did.slice(0, 3), ['SIGTERM', 'SIGCONT', 'SIGKILL'])
    assert.equal(keeper.settle(), true)
  })

  test('lost at once, with a --grace → KILL only after it', () => {
    const { keeper, lose, did } = kept(2850, { grace: 500 })
    keeper.start()
    lose()
    keeper.stop()
    assert.deepEqual(did, ['SIGTERM', 'SIGCONT', 'ends'])
  })

  test('--on-lost kill → no TERM; --on-lost ignore → nothing but a word, and lost in the end', () => {
    for (const [onLost, expected] of [
      ['kill', ['SIGKILL', 'ends']],
      ['ignore', ['ignored']],
    ] as const) {
      const { keeper, lose, did, orders } = kept(2850, { onLost })
      keeper.start()
      assert.equal(orders[0]?.termIn, null)
      lose()
      keeper.stop()
      assert.deepEqual(did, expected)
      assert.equal(keeper.settle(), true)
    }
  })

  test('the guardian was first → no TERM of its own, lost, and KILL in time', async () => {
    const { keeper, grip, did } = kept(2850)
    keeper.start()
    grip.left = 1000
    keeper.overtaken()
    keeper.overtaken()
    assert.deepEqual([did, keeper.ends], [[], true])
    await until(() => did.includes('SIGKILL'), 3000)
    keeper.stop()
    assert.equal(keeper.settle(), true)
  })

  test('renewed after the TERM → it still ends', async () => {
    const { keeper, grip, did } = kept(2850)
    keeper.start()
    grip.left = 200
    keeper.check()
    grip.left = 2850
    await until(() => did.includes('SIGKILL'), 2000)
    keeper.stop()
    assert.equal(keeper.settle(), true)
  })
})

void describe('holdfast run: the guardian', () => {
  const order = { target: { pid: 1, group: true }, termIn: null, killIn: null, grace: 100, termed: false }
  const guard = (alive = true) => {
    const state = { alive, done: 0, acts: 0, sent: [] as string[] }
    const processes = {
      get alive() {
        return state.alive
      },
      send: (signal: string) => void state.sent.push(signal),
    }
    const duty = new GuardianDuty({
      processesOf: () => processes,
      acts: () => void (state.acts += 1),
      done: () => void (state.done += 1),
    })
    return { duty, state }
  }

  test('a new order comes in time → the old one is forgotten', async () => {
    const { duty, state } = guard()
    for (let i = 0; i < 5; i++) {
      duty.hear({ ...order, termIn: 60, killIn: 120 })
      await sleep(20)
    }
    duty.hear(order)
    await sleep(200)
    assert.deepEqual(state, { alive: true, done: 0, acts: 0, sent: [] })
  })

  test('no new order → TERM, CONT, then KILL until nothing is left; it stays', async () => {
    const { duty, state } = guard()
    duty.hear({ ...order, termIn: 30, killIn: 90 })
    await until(() => state.sent.includes('SIGKILL'), 1000)
    assert.deepEqual(state.sent.slice(0, 3), ['SIGTERM', 'SIGCONT', 'SIGKILL'])
    state.alive = false
    await sleep(100)
    assert.equal(state.done, 0)
    assert.ok(state.acts >= 2)
  })

  test('alone → TERM, KILL after the grace, and it ends', async () => {
    const { duty, state } = guard()
    duty.hear(order)
    duty.alone()
    assert.deepEqual(state.sent, ['SIGTERM', 'SIGCONT'])
    await until(() => state.sent.includes('SIGKILL'), 1000)
    state.alive = false
    await until(() => state.done > 0, 1000)
  })

  test('alone, and the lease ends before the grace → KILL then', async () => {
    const { duty, state } = guard()
    duty.hear({ ...order, killIn: 50, grace: 60_000 })
    duty.alone()
    await until(() => state.sent.includes('SIGKILL'), 1000)
    state.alive = false
  })

  test('alone after the TERM → no second one', () => {
    const { duty, state } = guard()
    duty.hear({ ...order, termed: true, killIn: 1 })
    duty.alone()
    assert.deepEqual(state.sent, [])
    state.alive = false
  })

  test('alone without a command, or one that has ended → it ends at once', () => {
    const first = guard()
    first.duty.alone()
    assert.equal(first.state.done, 1)
    const second = guard(false)
    second.duty.hear(order)
    second.duty.alone()
    assert.deepEqual([second.state.done, second.state.sent], [1, []])
  })
})

void describe('holdfast run: processes and their environment', () => {
  test('a line of /proc/PID/stat → whatever the name of the program', () => {
    const rest = 'S 7 9 9 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 12345 1 1'
    for (const name of ['sh', 'a) S 1 (b', '((', 'a b'])
      assert.deepEqual(rowOfStat(`42 (${name}) ${rest}`), { pid: 42, parent: 7, group: 9, start: '12345' }, name)
    assert.equal(rowOfStat(`42 (sh) ${rest.replace('S', 'Z')}`), undefined)
    for (const text of ['', '42', '42 (sh', 'x (sh) S']) assert.equal(rowOfStat(text), undefined)
  })

  test('a line of ps', () => {
    const row = { pid: 42, parent: 7, start: 'Thu Jan  1 00:00:00 2026' }
    assert.deepEqual(rowOfPs('   42     7 Thu Jan  1 00:00:00 2026  '), row)
    assert.equal(rowOfPs(''), undefined)
  })

  test('descendants, in whatever order they are listed', () => {
    const rows = [
      [4, 3],
      [3, 2],
      [2, 1],
      [9, 8],
      [5, 2],
    ].map(([pid = 0, parent = 0]) => ({ pid, parent, start: '' }))
    const pids = descendantsOf(rows, 2).map(({ pid }) => pid)
    assert.deepEqual(
      pids.sort((a, b) => a - b),
      [3, 4, 5],
    )
    assert.deepEqual(descendantsOf(rows, 7), [])
  })

  test('what an outer run told is not taken for what this one tells', () => {
    const env = environmentOf({ HOME: '/', HOLDFAST_TOKEN: '1', HOLDFAST_TICKET: 't' }, { HOLDFAST_NAME: 'n' })
    assert.deepEqual(env, { HOME: '/', HOLDFAST_NAME: 'n' })
  })

  test('variables that a shell has no name for → set by env(1); none → the command as it is', () => {
    assert.deepEqual(withOddNames(['c', 'x'], { HOME: '/', _A1: '', a: undefined, 'b.c': undefined }), ['c', 'x'])
    assert.deepEqual(withOddNames(['c', 'x'], { HOME: '/', 'a.b': '1', IFS: ' ' }), [
      'env',
      '--',
      'a.b=1',
      'IFS= ',
      'c',
      'x',
    ])
    assert.deepEqual(withOddNames(['c=d'], { 'a.b': '1' }), ['c=d'])
  })
})
