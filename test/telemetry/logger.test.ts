import assert from 'node:assert/strict'
import { Console } from 'node:console'
import { channel } from 'node:diagnostics_channel'
import { Writable } from 'node:stream'
import { describe, test } from 'node:test'
import { type ClientListener, connect, EngineError } from 'holdfast'
import { type AnyLogger, log } from 'holdfast/logger'
import { pino } from 'pino'
import winston from 'winston'
import { systemClock } from '#src/base/clock.js'
import { plainMessage, plainText } from '#src/plain-text.js'
import { writerOf } from '#src/telemetry/log-style.js'
import { ClientLog, type LoggedClient } from '#src/telemetry/client-log.js'
import { startRedis } from '../support/redis-server.js'
import { inTown } from '../support/town.js'
import { until } from '../support/until.js'

/** The lines that a logger writes. */
class Lines extends Writable {
  #text = ''

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#text += chunk.toString()
    done()
  }

  get all(): string[] {
    return this.#text.split('\n').filter((line) => line !== '')
  }
}

const LOGGERS: Readonly<Record<string, (lines: Lines) => AnyLogger>> = {
  pino: (lines) => pino({ level: 'debug' }, lines),
  winston: (lines) =>
    winston.createLogger({
      level: 'debug',
      format: winston.format.json(),
      transports: [new winston.transports.Stream({ stream: lines })],
    }),
  console: (lines) => new Console(lines, lines),
}

/** Level, message and lock of a line. */
const partsOf = (name: string, line: string): readonly unknown[] => {
  if (name === 'console') return [/^(holdfast: [^=]*?)(?: \w+=|$)/.exec(line)?.[1], /lock='([^']*)'/.exec(line)?.[1]]
  const { msg, message, lock } = JSON.parse(line) as Record<string, string>
  return [msg ?? message, lock]
}

void describe('holdfast/logger', () => {
  for (const [name, make] of Object.entries(LOGGERS)) {
    test(`${name}: connected, a loss, closed → one line each, with the fields that it expects`, async () => {
      const redis = await startRedis()
      const lines = new Lines()
      const client = await connect(redis.url)
      log(client, make(lines))
      await until(() => lines.all.some((line) => line.includes('connected')))
      const hold = await client.lock('a\u001b[2J').acquire({ lease: 1500 })
      await until(() => hold.signal.aborted)
      await client.lock('free').using(() => undefined)
      await client.close()
      await redis.stop()
      const escaped = String.raw`a\u001b[2J`
      const told = lines.all.filter((line) => !line.includes(String(client.warnings[0])))
      assert.deepEqual(
        told.map((line) => partsOf(name, line)),
        [
          ['holdfast: connected', undefined],
          ['holdfast: a hold was lost', escaped],
          ['holdfast: closed', undefined],
        ],
      )
      assert.ok(lines.all.every((line) => line.includes(client.id)))
      if (name === 'pino')
        assert.deepEqual(
          told.map((line) => (JSON.parse(line) as { level: number }).level),
          [30, 40, 30],
        )
      if (name === 'winston')
        assert.deepEqual(
          told.map((line) => (JSON.parse(line) as { level: string }).level),
          ['info', 'warn', 'info'],
        )
    })
  }

  test('calls: true → a line for the end of each call and each hold of these clients, and none of others', async () => {
    const [client, other] = [await connect('memory:'), await connect('memory:')]
    const lines = new Lines()
    const stop = log([client], new Console(lines, lines), { calls: true })
    for (const one of [client, other]) await one.lock('a').using(() => undefined)
    stop()
    await client.lock('a').using(() => undefined)
    await Promise.all([client.close(), other.close()])
    const calls = lines.all
      .filter((line) => line.includes("kind='lock'"))
      .map((line) => line.replace(/ client=\S+| ms=\d+/g, ''))
    assert.deepEqual(calls, [
      "holdfast: acquired kind='lock' lock='a' local=false",
      "holdfast: a hold ended kind='lock' lock='a' outcome='released'",
    ])
    for (const event of ['grant', 'end', 'release']) assert.equal(channel(`holdfast:${event}`).hasSubscribers, false)
  })

  test('level warn → nothing of the connection; a logger that throws stops nothing', async () => {
    const client = await connect('memory:')
    const lines = new Lines()
    log(client, new Console(lines, lines), { level: 'warn' })
    const broken = (): void => {
      throw new Error('disk full')
    }
    log(client, { debug: broken, info: broken, warn: broken, error: broken })
    await client.close()
    assert.deepEqual(
      lines.all,
      client.warnings.map((text) => `holdfast: ${text} client='${client.id}'`),
    )
  })

  test('what happens while a client closes → is in the log, and closed comes last', async () => {
    const client = await connect('memory:')
    const lines = new Lines()
    log(client, new Console(lines, lines), { calls: true })
    const hold = await client.lock('a').acquire({ lease: 1500 })
    const closed = client.close({ drain: 10_000 })
    await until(() => hold.signal.aborted)
    await closed
    await until(() => lines.all.some((line) => line.startsWith('holdfast: closed')))
    const told = lines.all.map((line) => /^holdfast: ([a-z ]+)/.exec(line)?.[1]?.trim())
    assert.deepEqual(
      told.filter((text) => text !== 'connected client').slice(-3),
      ['a hold ended client', 'a hold was lost client', 'closed client'],
      lines.all.join('\n'),
    )
    for (const event of ['grant', 'end', 'release']) assert.equal(channel(`holdfast:${event}`).hasSubscribers, false)
  })

  test('a client that was closed before → closed, and nothing is listened to', async () => {
    const [client, other] = [await connect('memory:'), await connect('memory:')]
    await client.close()
    const lines = new Lines()
    log([client, other], new Console(lines, lines), { calls: true })
    const ends = (): string[] => lines.all.filter((line) => line.startsWith('holdfast: closed'))
    await until(() => ends().length === 1)
    assert.equal(channel('holdfast:grant').hasSubscribers, true)
    await other.close()
    await until(() => ends().length === 2)
    assert.equal(channel('holdfast:grant').hasSubscribers, false)
    assert.ok(lines.all.every((line) => !line.includes('away')))
  })

  test('a long reason, and a quote, in the console → whole, and inside the quotes', () => {
    const lines = new Lines()
    const write = writerOf(new Console(lines, lines), 'info')
    const reason = plainMessage(`no\n${'x'.repeat(400)}`)
    write('warn', 'trouble', { lock: plainText(`a' reason='none' x="y`), reason })
    assert.deepEqual(lines.all, [
      String.raw`holdfast: trouble lock="a' reason='none' x=\u0022y" reason='no\n` + `${'x'.repeat(400)}'`,
    ])
  })

  test('wrong arguments → an error that names them', async () => {
    const client = await connect('memory:')
    assert.throws(() => log(client, {} as never), /logger must have a method debug\(\)/)
    assert.throws(() => log({} as never, console), /clients\[0\] must have/)
    assert.throws(() => log(client, console, { level: 'loud' as never }), /level must be one of/)
    await client.close()
  })
})

inTown('a server that is silent → one line when it has been away for 5 s, and one when it is back', async (town) => {
  const [client, broken] = await town.joinInPart({ commandTimeout: 300 })
  const told: (readonly unknown[])[] = []
  const logged = new ClientLog(client, (level, message) => told.push([level, message]), town.clock)
  await town.clock.advance(1)
  let back: () => void = () => undefined
  broken.until = new Promise<void>((done) => (back = done))
  await town.clock.advance(30_000)
  const relevant = (): (readonly unknown[])[] =>
    told.filter(([, message]) => !client.warnings.includes(message as string))
  assert.deepEqual(relevant(), [
    ['info', 'connected'],
    ['warn', 'the server is away'],
  ])
  back()
  await town.clock.advance(10_000)
  assert.deepEqual(relevant().slice(2), [['info', 'the server is back']])
  logged.stop()
})

inTown('what a client tells → one line each: uncertain, deadlock, error', async (town) => {
  const client = await town.join()
  const listeners = new Map<string, (what: unknown) => void>()
  const spied: LoggedClient = {
    id: client.id,
    warnings: [],
    closing: client.closing,
    health: () => client.health(),
    close: () => client.close(),
    on(event: string, listener: ClientListener<'error'>) {
      listeners.set(event, listener as never)
      return client
    },
    off(event: string) {
      listeners.delete(event)
      return client
    },
  } as never
  const told: string[] = []
  const logged = new ClientLog(
    spied,
    (level, message, fields) => told.push(`${level} ${message} ${JSON.stringify(fields)}`),
    systemClock,
  )
  listeners.get('uncertain')?.({ name: 'a', owner: 'secret', cause: new Error('slow\nserver') })
  const call = { name: 'x\r', key: 'x', kind: 'lock', client: 'c', since: 0, waited: 0 }
  listeners.get('deadlock')?.({ cycle: [call, { ...call, label: 'web' }], victim: undefined })
  listeners.get('error')?.(new Error('no'))
  listeners.get('error')?.(new EngineError('NOPERM', 'no rights', { target: 'a\n' }))
  logged.stop()
  assert.deepEqual(
    told.map((line) => line.replace(client.id, 'id')),
    [
      String.raw`warn a hold is uncertain: a renewal failed or is overdue {"client":"id","lock":"a","reason":"slow\\nserver"}`,
      String.raw`warn a deadlock was found {"client":"id","calls":2,"cycle":"x\\r (c) → x\\r (web)"}`,
      'error something went wrong in the background {"client":"id","reason":"no"}',
      String.raw`error something went wrong in the background {"client":"id","lock":"a\\n","reason":"no rights"}`,
    ],
  )
  assert.equal(listeners.size, 0)
})
