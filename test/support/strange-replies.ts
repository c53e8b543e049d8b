import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EngineError } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { closeMemoryServer, openMemoryServer } from '#src/engine/memory/registry.js'
import type { Script } from '#src/lua/script.js'
import * as generated from '#src/lua/scripts.gen.js'
import { digits, either, integer, just, many, nil, type Shape, text, tuple } from '#src/lua/reply-shape.js'
import { watch } from '../suites/contract/lock/kind.js'
import type { Client, Options } from './engines.js'
import { StrangeDriver } from './strange-driver.js'
import type { Arg, Reply } from '#src/lua/values.js'

/** A script or a plain command, and what its reply must be. */
interface Question {
  readonly name: string
  readonly fits: Shape<unknown>
}

const scripts = new Map<unknown, Question>(
  Object.values(generated as Record<string, Script>).flatMap((one) => [
    [one.sha, one],
    [one.text, one],
  ]),
)

const field = either(digits, nil)
const commands: Readonly<Record<string, Shape<unknown>>> = {
  // A count, unless it is of a client's label.
  GET: (reply, [, key]): reply is unknown =>
    nil(reply) || (text(reply) && (/^-?\d+$/.test(reply) || String(key).startsWith('holdfast:client:'))),
  SET: just('OK'),
  DEL: integer,
  PTTL: integer,
  PEXPIRE: integer,
  HMGET: tuple(field, field, field, field),
  PUBLISH: integer,
  'PUBSUB NUMSUB': tuple(text, integer),
  'PUBSUB CHANNELS': many(text),
  PING: just('PONG'),
  INFO: text,
  TIME: tuple(digits, digits),
}

const questionOf = ([command, second]: readonly Arg[]): Question | undefined => {
  if (String(command).startsWith('EVAL')) return scripts.get(second)
  const name = command === 'PUBSUB' ? `PUBSUB ${String(second)}` : String(command)
  const fits = commands[name]
  assert.ok(fits, `what is a reply to ${name}?`)
  return { name, fits }
}

/** What comes in place of a reply. */
const STRANGE: Readonly<Record<string, (reply: Reply) => unknown>> = {
  nil: () => null,
  'a number as text': (reply) => (typeof reply === 'number' ? String(reply) : '-2'),
  'a text that is no number': () => 'NaN',
  QUEUED: () => 'QUEUED',
  'nested lists': (reply) => [[reply]],
  'an empty list': () => [],
  'a list too short': (reply) => (Array.isArray(reply) ? reply.slice(0, -1) : [reply]),
  'a list too long': (reply) => (Array.isArray(reply) ? [...reply, 0] : [reply, 0]),
  'a list within that is too short': (reply) =>
    Array.isArray(reply) ? reply.map((item) => (Array.isArray(item) ? item.slice(0, -1) : item)) : {},
  'a number beyond what is exact': () => 2 ** 53,
  'not a number': () => NaN,
  bytes: () => Buffer.from('1'),
  true: () => true,
  'an error': () => new Error('ERR strange'),
  'a map': () => ({ held: 1 }),
}

export interface Scene {
  readonly one: Client
  readonly other: Client
  readonly name: string
  /** What was told as an `error` event. */
  readonly errors: readonly unknown[]
  open(): Promise<Client>
  raw(...words: (string | number)[]): unknown
  run<T>(promise: Promise<T>): Promise<T>
  pass(ms: number): Promise<void>
}

export type Attempt = <T>(what: Promise<T>) => Promise<T | undefined>

/** Something that is used while replies are strange, and after. */
export interface Part {
  readonly name: string
  readonly options?: Partial<Options>
  /** Every operation, alone and with another client that waits. */
  use(scene: Scene, attempt: Attempt): Promise<void>
  /** When all is as ever again: nothing was lost. */
  after(scene: Scene): Promise<void>
  /** A strange reply to one of these is always told to somebody. */
  tells?(question: string): boolean
}

let scenes = 0

/** One history of a part in which `strange` changes replies for a while. Returns what was asked. */
const play = async (
  part: Part,
  strange: (question: Question, argv: readonly Arg[], reply: Reply) => Reply,
): Promise<{ used: Set<string>; told: number }> => {
  const clock = virtualClock((scenes += 1))
  const id = `strange${scenes}-${process.pid}`
  const server = openMemoryServer(id, clock)
  const used = new Set<string>()
  let told = 0
  let isStrange = false
  const opened: Client[] = []
  const errors: unknown[] = []
  const run = async <T>(promise: Promise<T>): Promise<T> => {
    const seen = watch(promise)
    let step = 1
    const limit = clock.now() + 600_000
    for (await clock.advance(0); !seen.settled; await clock.advance(step)) {
      assert.ok(clock.now() < limit, 'it hangs')
      step = Math.min(200, step * 2)
    }
    return promise
  }
  const open = async (): Promise<Client> => {
    const driver = new StrangeDriver(new MemoryDriver(server, id))
    driver.changes = (argv, reply) => {
      const question = questionOf(argv)
      if (question === undefined || reply instanceof Error || !isStrange) return reply
      used.add(question.name)
      return strange(question, argv, reply)
    }
    const settings = settle({ url: `memory:${id}`, clock, presence: false, ...part.options }, {})
    const client = await run(start(settings, driver))
    client.on('error', (error) => errors.push(error))
    opened.push(client)
    return client
  }
  const attempt: Attempt = async (what) => {
    try {
      return await run(what)
    } catch (error) {
      assert.ok(error instanceof Error, String(error))
      assert.ok(!(error instanceof SyntaxError || error instanceof RangeError), String(error.stack))
      assert.doesNotMatch(error.message, /undefined|reading '|is not a function|is not iterable/, String(error.stack))
      const code = error instanceof EngineError ? error.code : undefined
      if (code === 'BAD_REPLY') assert.match(error.message, /answered [\w/ -]+ with .+(not a valid reply|open MULTI)/)
      if (code === 'WRONG_KIND') assert.match(error.message, /holds a text that is no count: ".+"/)
      if (code === 'BAD_REPLY' || code === 'WRONG_KIND') told += 1
      return undefined
    }
  }
  const raw = (...words: (string | number)[]): unknown => server.execute(words.map(String))
  const [one, other] = [await open(), await open()]
  const scene: Scene = { one, other, name: 'n', errors, open, raw, run, pass: (ms) => clock.advance(ms) }
  isStrange = true
  await part.use(scene, attempt)
  isStrange = false
  await clock.advance(200_000)
  await part.after(scene)
  for (const client of opened) await run(client.close())
  await clock.advance(130_000)
  const left = (server.execute(['KEYS', '*']) as string[]).filter((key) => !key.startsWith('redisson_lock_token'))
  assert.deepEqual(left, [])
  closeMemoryServer(server)
  return { used, told: told + errors.length }
}

const SOME = process.env['HOLDFAST_STRANGE'] === 'all' ? Infinity : 2

/** Each reply of each part is replaced by what it cannot be, each time by something else. */
export const strangeReplies = (title: string, parts: readonly Part[], some = SOME): void => {
  void describe(title, () => {
    for (const [index, part] of parts.entries()) {
      test(`${part.name}: nothing is held by it, nothing hangs, nothing is left`, async () => {
        const unhandled: unknown[] = []
        const note = (reason: unknown): void => void unhandled.push(reason)
        process.on('unhandledRejection', note)
        const { used, told: before } = await play(part, (_question, _argv, reply) => reply)
        let turn = index
        for (const name of used) {
          const ways = Object.entries(STRANGE)
          for (let i = 0; i < Math.min(some, ways.length); i++) {
            const [way, change] = ways[(turn += 7) % ways.length] as (typeof ways)[number]
            let changed = 0
            try {
              const { told } = await play(part, (question, argv, reply) => {
                const strange = change(reply)
                if (question.name !== name || question.fits(strange, argv)) return reply
                changed += 1
                return strange
              })
              if (changed > 0 && part.tells?.(name) === true) assert.ok(told > before, 'nobody is told')
            } catch (error) {
              throw new Error(`${name} answered with ${way} (${changed} times): ${(error as Error).message}`, {
                cause: error,
              })
            }
          }
        }
        process.off('unhandledRejection', note)
        assert.deepEqual(unhandled, [])
      })
    }
  })
}
