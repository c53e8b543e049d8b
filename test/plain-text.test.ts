import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as holdfast from 'holdfast'
import { connect } from 'holdfast'
import { checkKnown, checkName, show } from '#src/check-arguments.js'
import { guarded } from '#src/config/logger.js'
import { plainJson, plainMessage, plainText, quoted } from '#src/plain-text.js'
import { serverError } from '#src/errors.js'
import { plainLine } from '#src/cli/demo/plain-line.js'
import { Random } from '#src/testing/random.js'
import { rejection } from './suites/contract/lock/kind.js'
import { HIDDEN, STRANGE_NAMES } from './support/hostile.js'

/** A message may have so many characters, and its last ones say how many it would have. */
const MOST = 6100

const isPlain = (text: string): void => {
  assert.doesNotMatch(text, HIDDEN)
  assert.ok(text.length <= MOST, `${text.length} characters`)
}

/** Text of anything: also what no encoder makes. */
const anyText = (random: Random): string =>
  String.fromCharCode(
    ...Array.from({ length: random.below(300) }, () => random.below(random.below(2) === 0 ? 0x100 : 0x1_0000)),
  )

void describe('a text of somebody else’s', () => {
  test('escaped as in JSON, and of a long one the beginning and how long it is', () => {
    assert.equal(plainText('orders'), 'orders')
    assert.equal(plainText('größe 日本 👩‍👩‍👧 می‌خواهم'), 'größe 日本 👩‍👩‍👧 می‌خواهم')
    assert.equal(plainText('a\nb\r\t\u001b[2J\u0085\u2028\u202e'), 'a\\nb\\r\\t\\u001b[2J\\u0085\\u2028\\u202e')
    assert.equal(plainText('\ud83d'), '\\ud83d')
    assert.equal(plainText('\u{e0041}'), '\\udb40\\udc41')
    assert.equal(quoted('x'.repeat(65_536)), `'${'x'.repeat(100)}… (65536 characters)'`)
    assert.equal(plainText('𝒳'.repeat(3), 5), '𝒳𝒳… (6 characters)')
    assert.equal(plainText('x'.repeat(100)), 'x'.repeat(100))
  })

  test('any text at all → nothing hidden is left, it is bounded, and made plain once more it is the same', () => {
    const random = new Random(5)
    for (let i = 0; i < 3000; i++) {
      const text = anyText(random)
      isPlain(plainText(text))
      isPlain(show(text))
      isPlain(show({ [Symbol.toStringTag]: text }))
      isPlain(new holdfast.ConfigError(text).message)
      const plain = plainMessage(text)
      isPlain(plain)
      assert.equal(plainText(plain, Infinity), plain)
      const json = plainJson({ text, [text]: [1] })
      assert.doesNotMatch(json.replaceAll('\n', ''), HIDDEN)
      assert.deepEqual(JSON.parse(json), { text, [text]: [1] })
    }
  })
})

/** One of each, about this name and with these words of others. */
const errorsOf = (name: string): readonly Error[] => [
  new holdfast.HoldfastError('CONFIG', name),
  new holdfast.AcquireTimeoutError(name, 5),
  new holdfast.LockLostError(name, name),
  new holdfast.NotOwnerError(name, name),
  new holdfast.NotInitializedError(name),
  new holdfast.DeadlockError(name, name),
  new holdfast.BusyError(name, 5),
  new holdfast.MembersError(name, [{ index: 0, name, error: new Error(name) }]),
  new holdfast.ReplicationError(name, 2, 5),
  new holdfast.FlightError(name, name, name),
  new holdfast.ClosedError(name),
  new holdfast.ConfigError(name),
  new holdfast.EngineError('SERVER', name, { target: name }),
  serverError(`WRONGTYPE ${name}`, name),
  serverError(`ERR ${name}`, name),
]

void describe('names that would write a line of their own', () => {
  const classes = Object.values(holdfast).filter(
    (one) => typeof one === 'function' && one.prototype instanceof Error,
  ) as (abstract new (...args: never[]) => Error)[]

  STRANGE_NAMES.forEach((name, i) => {
    test(`name ${i}: in each class of errors → message and stack are plain; what programs read is exact`, () => {
      const errors = errorsOf(name)
      for (const type of classes)
        assert.ok(
          errors.some((error) => error.constructor === type),
          type.name,
        )
      for (const error of errors) {
        isPlain(error.message)
        const [first = ''] = String(error.stack).split('\n    at ')
        isPlain(first)
        const { target } = error as { target?: string }
        assert.ok(target === undefined || target === name)
      }
      assert.match(errorsOf('x'.repeat(65_536))[1]?.message ?? '', /x… \(65536 characters\)' within 5 ms$/)
    })

    test(`name ${i}: in checks, log lines, warnings and the demo's lines → plain`, () => {
      for (const check of [
        () => checkName([name]),
        () => checkKnown({ [name]: 1 }, ['wait']),
        () => checkName(`${name}${name}\ud800`),
      ]) {
        assert.throws(check, ({ message }: Error) => {
          isPlain(message)
          return true
        })
      }
      const said: string[] = []
      const log = (message: string): void => void said.push(message)
      const logger = guarded({ debug: log, info: log, warn: log, error: log })
      for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level](name)
      said.push(
        plainLine({ at: 5, lock: name, text: name, tone: 'plain' }),
        plainLine({ at: 5, lock: undefined, text: name, tone: 'plain' }),
      )
      assert.equal(said.length, 6)
      said.forEach(isPlain)
    })

    test(`name ${i}: of locks of a client → each error, event, log line and warning is plain, their fields exact`, async () => {
      const said: string[] = []
      const log = (message: string): void => void said.push(message)
      const url = `memory:plain-${i}-${performance.now()}`
      const client = await connect({
        url,
        logger: { debug: log, info: log, warn: log, error: log },
        label: name.slice(0, 5000),
      })
      const other = await connect({ url })
      const told: Error[] = []
      client.on('error', (error) => told.push(error))
      const lost: unknown[] = []
      client.on('lost', (event) => lost.push(event.name))
      const hold = await client.lock(name).acquire()
      const errors = [
        await rejection(other.lock(name).acquire({ wait: 1 })),
        await rejection(client.lock(name).for(client.owner(name)).unlock()),
        await rejection(client.fairLock(name).acquire({ owner: hold.owner, wait: 50 })),
        await rejection(client.semaphore(name).acquire({ wait: 10 })),
        await rejection(client.lock(name).acquire({ [name]: 5 })),
        await rejection(client.rateLimiter(name).tryAcquire()),
        await rejection(client.script(`return redis.error_reply(ARGV[1])`).run({ args: [name] })),
        await rejection(client.multiLock(client.lock(name), other.lock('b')).acquire({ wait: 1 })),
      ]
      await other.topic(name).subscribe(() => undefined)
      await client.topic(name).subscribe(() => undefined)
      await other.topic(name, { codec: 'string' }).publish(`{${name}`)
      assert.equal(await other.lock(name).forceRelease(), true)
      assert.equal(await hold.release(), false)
      await client.close()
      errors.push(await rejection(client.lock(name).acquire()), ...told)
      await other.close()
      assert.ok(told.length > 0)
      for (const error of errors as Error[]) {
        assert.ok(error instanceof Error)
        isPlain(error.message)
      }
      said.forEach(isPlain)
      assert.ok(lost.every((one) => one === name))
    })
  })
})
