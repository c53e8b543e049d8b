import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { type Engine, engines, type Scenario, scenarios, type World } from '../../support/engines.js'

/** From when the lock is free to when the first of a dead client's places is found silent: a poll, a trial, and a poll. */
const A_TRIAL = 5000
const A_POLL = 1100
/** What a script may take of the server; a loaded machine counts its pauses, too. */
const MOST_MS = 10

const id = (client: number): string => `${String(client).padStart(8, '0')}-0a1b-8101-8001-0a1b2c3d4e5f`
const ownerOf = (client: number, number: number): string => `${id(client)}:${number}:abcdefghijklmnopqrstuv`

interface Kind {
  readonly name: string
  readonly mark: string
  keys(name: string): readonly [queue: string, deadlines: string]
  voice(name: string, client: string): string
  lock(
    client: Awaited<ReturnType<World['connect']>>,
    name: string,
  ): { acquire(): Promise<{ release(): Promise<boolean> }> }
  /** The words that make a stranger its holder. */
  held: readonly string[]
}

const kinds: readonly Kind[] = [
  {
    name: 'fair lock',
    mark: '',
    keys: (name) => [`redisson_lock_queue:{${name}}`, `redisson_lock_timeout:{${name}}`],
    voice: (name, client) => `holdfast_grant:{${name}}:${client}`,
    lock: (client, name) => client.fairLock(name),
    held: [ownerOf(1, 1), '1'],
  },
  {
    name: 'fair read-write lock',
    mark: ':write',
    keys: (name) => [`holdfast_rwlock_queue:{${name}}`, `holdfast_rwlock_timeout:{${name}}`],
    voice: (name, client) => `holdfast_rwlock_grant:{${name}}:${client}:write`,
    lock: (client, name) => client.readWriteLock(name, { fair: true }).write,
    held: ['mode', 'write', `${ownerOf(1, 1)}:write`, '1'],
  },
]

/** Behind all these somebody waits who lives; how long after the lock is free it has it. */
const waitBehind = async (w: World, kind: Kind, dead: readonly string[]): Promise<number> => {
  const [queue, deadlines] = kind.keys(w.id)
  const client = await w.connect()
  await w.raw('HSET', w.id, ...kind.held)
  await w.raw('PEXPIRE', w.id, 120_000)
  const time = w.clock?.now() ?? Date.now()
  for (let from = 0; from < dead.length; from += 1000) {
    const some = dead.slice(from, from + 1000)
    await w.raw('RPUSH', queue, ...some)
    await w.raw('ZADD', deadlines, ...some.flatMap((owner, i) => [time + 300_000 + from + i, owner]))
  }
  const waiting = kind.lock(client, w.id).acquire()
  await w.eventually(async () => (await w.raw('LLEN', queue)) === dead.length + 1)
  const since = w.now()
  await w.raw('DEL', w.id)
  const hold = await w.run(waiting)
  const ms = w.now() - since
  assert.equal(await w.run(hold.release()), true)
  await w.raw('DEL', queue, deadlines)
  return ms
}

const times = (count: number, what: (i: number) => string): string[] => Array.from({ length: count }, (_, i) => what(i))

/** ms that each of the longer scripts took; nothing where that cannot be asked. */
const scriptTimes = async (w: World, engine: Engine): Promise<number[]> => {
  if (engine.name !== 'ioredis') return []
  const log = (await w.raw('SLOWLOG', 'GET', 1000)) as [number, number, number, string[]][]
  return log.filter(([, , , [command = '']]) => /^eval/i.test(command)).map(([, , us]) => us / 1000)
}

const tests = (scenario: Scenario, engine: Engine, kind: Kind): void => {
  const { name, mark } = kind
  const test = (title: string, body: (w: World) => Promise<number>, most: number): void => {
    scenario(`${name}: ${title}`, async (w) => {
      const ms = await body(w)
      assert.ok(ms <= most + 2 * w.slack, `after ${Math.round(ms)} ms`)
    })
  }

  scenario(
    `${name}: a client with 12,000 places dies → its places go one step after the other, none of them long`,
    async (w) => {
      if (engine.name === 'ioredis') {
        await w.raw('CONFIG', 'SET', 'slowlog-log-slower-than', 500)
        await w.raw('SLOWLOG', 'RESET')
      }
      const ms = await waitBehind(
        w,
        kind,
        times(12_000, (i) => `${ownerOf(2, i)}${mark}`),
      )
      assert.ok(ms <= A_TRIAL + 2 * w.slack, `after ${Math.round(ms)} ms`)
      const taken = (await scriptTimes(w, engine)).sort((a, b) => a - b)
      const middle = taken[taken.length >> 1] ?? (engine.name === 'ioredis' ? assert.fail('no script was seen') : 0)
      assert.ok(middle <= MOST_MS, `${taken.join(' ')} ms of server time`)
    },
  )

  test(
    'it dies and is heard still → the same',
    async (w) => {
      await w.messages(kind.voice(w.id, id(2)))
      return waitBehind(
        w,
        kind,
        times(12_000, (i) => `${ownerOf(2, i)}${mark}`),
      )
    },
    A_TRIAL,
  )

  test(
    '200 dead clients → whoever is behind them has it at once',
    (w) =>
      waitBehind(
        w,
        kind,
        times(200, (i) => `${ownerOf(2 + i, 1)}${mark}`),
      ),
    A_POLL,
  )

  test(
    '700 dead clients → whoever is behind them has it after a trial',
    (w) =>
      waitBehind(
        w,
        kind,
        times(700, (i) => `${ownerOf(2 + i, 1)}${mark}`),
      ),
    A_TRIAL,
  )
}

// In one process with a real clock, thousands of commands of interpreted scripts would be what is measured.
for (const engine of engines.filter(({ name }) => name !== 'memory')) {
  void describe(`${engine.name}: behind clients that died in the line`, { concurrency: engine.concurrency }, () => {
    const scenario = scenarios(engine)
    for (const kind of kinds) tests(scenario, engine, kind)
  })
}
