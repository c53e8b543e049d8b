import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as holdfast from 'holdfast'
import { connect } from 'holdfast'
import { mayHaveRun, isTransient } from '#src/core/server/transient-or-unsure-errors.js'
import { serverError } from '#src/errors.js'
import { rejection } from './suites/contract/lock/kind.js'

type Copy = Pick<
  typeof holdfast,
  | 'HoldfastError'
  | 'AcquireTimeoutError'
  | 'LockLostError'
  | 'NotOwnerError'
  | 'BusyError'
  | 'ClosedError'
  | 'ConfigError'
  | 'DeadlockError'
  | 'EngineError'
>

const second = async (): Promise<Copy> =>
  (await import(new URL('errors.js?second-copy', import.meta.resolve('holdfast')).href)) as Copy

void test('an error of one copy of the package → `instanceof` the other copy’s classes, and only the right ones', async () => {
  const copy = await second()
  assert.notEqual(copy.AcquireTimeoutError, holdfast.AcquireTimeoutError)
  const client = await connect({ url: 'memory:errors' })
  const lock = client.lock('a')
  const hold = await lock.acquire()
  const error = await rejection(lock.acquire({ wait: 0 }))
  for (const from of [holdfast, copy]) {
    assert.ok(error instanceof from.AcquireTimeoutError)
    assert.ok(error instanceof from.HoldfastError)
    assert.ok(error instanceof Error)
    assert.ok(!(error instanceof from.LockLostError))
    assert.ok(!(error instanceof from.EngineError))
  }
  await lock.forceRelease()
  const refused = await rejection(lock.for(client.owner()).unlock())
  await client.close()
  const closed = await rejection(lock.acquire())
  for (const from of [holdfast, copy]) {
    assert.ok(refused instanceof from.NotOwnerError && !(refused instanceof from.ClosedError))
    assert.ok(closed instanceof from.ClosedError && !(closed instanceof from.NotOwnerError))
    assert.ok(hold.signal.reason === undefined || hold.signal.reason instanceof from.HoldfastError)
  }
})

void test('errors → the brand is `Symbol.for`, the name is the class’s, target and code are there, the cause is kept', () => {
  const cause = new Error('beneath')
  const error = new holdfast.EngineError('OOM', 'OOM command not allowed', { target: 'a', cause })
  assert.deepEqual((error as unknown as Record<symbol, unknown>)[Symbol.for('holdfast.error')], [
    'HoldfastError',
    'EngineError',
  ])
  assert.equal(error.name, 'EngineError')
  assert.equal(error.code, 'OOM')
  assert.equal(error.target, 'a')
  assert.equal(error.cause, cause)
  assert.ok(String(error.stack).includes('EngineError'))
  assert.ok(!('cause' in new holdfast.NotOwnerError('a', 'b')))
})

void test('what is no error of holdfast → not `instanceof` it', () => {
  for (const other of [null, undefined, 'text', 5, new Error('plain'), {}, { code: 'LOCK_LOST' }]) {
    assert.equal(other instanceof holdfast.HoldfastError, false)
    assert.equal(other instanceof holdfast.LockLostError, false)
  }
})

void test('a subclass of the user’s own → told apart as any class is', () => {
  class Mine extends holdfast.LockLostError {}
  const mine = new Mine('a', 'why')
  assert.ok(mine instanceof Mine && mine instanceof holdfast.LockLostError)
  assert.equal(new holdfast.LockLostError('a', 'why') instanceof Mine, false)
})

void test('what a server says in other words → the code that it means', () => {
  const answers = {
    'ERR Script attempted to access a non local key in a cluster node script: 5f2a, on @user_script:7.': 'TRYAGAIN',
    'ERR Script attempted to access a non local key in a cluster node': 'TRYAGAIN',
    'ERR Script attempted to execute a command while the cluster is down script: 5f2a, on @user_script:7.':
      'CLUSTERDOWN',
    "ERR The user executing the script can't run this command or subcommand script: 5f2a, on @user_script:7.": 'NOPERM',
    'TRYAGAIN Multiple keys request during rehashing of slot': 'TRYAGAIN',
    'ERR Protocol error: unauthenticated multibulk length': 'NOAUTH',
    'ERR Protocol error: unauthenticated bulk length': 'NOAUTH',
    'ERR Protocol error: invalid multibulk length': 'SERVER',
    'ERR Script attempted to access keys that do not hash to the same slot': 'SERVER',
  }
  for (const [text, code] of Object.entries(answers)) assert.equal(serverError(text).code, code, text)
  // It may have done a part of its work by then, and is undone.
  for (const [text, part] of Object.entries({
    'ERR Script attempted to access a non local key': true,
    'TRYAGAIN a': false,
  }))
    assert.equal(mayHaveRun(serverError(text)), part, text)
  assert.ok(isTransient(serverError('ERR Script attempted to access a non local key')))
})
