import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { MultiHold, MultiLock } from 'holdfast'
import { AcquireTimeoutError, connect, LockLostError, MembersError } from 'holdfast'
import type { HistoryEvent } from 'holdfast/testing'
import { checkHistory } from 'holdfast/testing'
import { times } from '../contract/lock/kind.js'
import { type Client, redisEngine, started } from '../../support/engines.js'
import { seeded } from '../../support/random.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'
import { assertNone } from '../../support/violations.js'
import { machineTime } from '../soak/log.js'

/** For longer: `HOLDFAST_SECONDS=120 node --test .build/test/suites/faults/red-lock.test.js` */
const SECONDS = Number(process.env['HOLDFAST_SECONDS'] ?? 20)
const SERVERS = 5
const PARTIES = 4
const WORKERS = 3
const LONGEST_LEASE = 1500
const NAME = 'doc'

const random = seeded(Number(process.env['HOLDFAST_SEED'] ?? 1))
const between = (least: number, most: number): number => Math.floor(least + random() * (most - least))

/** What became of the calls, and when nobody had it. */
interface Tally {
  readonly history: HistoryEvent[]
  readonly ends: Map<string, number>
  calls: number
  longestWait: number
}

/** A majority lives always. Who comes back without its data has been away for as long as any lease that it has granted. */
const kill = async (servers: RedisServer[], until: number): Promise<number> => {
  let killed = 0
  const dying = async (mine: readonly number[]): Promise<void> => {
    while (machineTime() < until) {
      await sleep(between(50, 1500))
      const index = mine[between(0, mine.length)] as number
      const { port, stop } = servers[index] as RedisServer
      await stop()
      killed++
      await sleep(LONGEST_LEASE + between(300, 1500))
      servers[index] = await startRedis(['--port', String(port)])
    }
  }
  // Two of five at most: each of these has one dead at a time.
  await Promise.all([dying([0, 1]), dying([2, 3, 4])])
  return killed
}

const refusal = (error: unknown): string => {
  const expected =
    error instanceof AcquireTimeoutError || error instanceof MembersError || error instanceof LockLostError
  if (expected) return error.code
  if (error instanceof Error && error.message === 'enough') return 'aborted'
  throw error
}

const visit = async (lock: MultiLock, party: string, tally: Tally): Promise<void> => {
  const call = `${party}/${(tally.calls += 1)}`
  const lease = random() < 0.5 ? between(400, LONGEST_LEASE) : undefined
  const tell = (
    what: 'invoke' | 'granted' | 'checked' | 'releasing' | 'released' | 'lost' | 'refused',
    until?: number,
  ) => tally.history.push({ at: machineTime(), what, process: party, call, name: NAME, until, lease: LONGEST_LEASE })
  const abort = new AbortController()
  const changesMind = random() < 0.1 ? setTimeout(() => abort.abort(new Error('enough')), between(0, 400)) : undefined
  const since = machineTime()
  const ended = (how: string): void => void tally.ends.set(how, (tally.ends.get(how) ?? 0) + 1)
  tell('invoke')
  let hold: MultiHold
  try {
    hold = await lock.acquire({ lease, wait: between(500, 6000), signal: abort.signal })
  } catch (error) {
    tell('refused')
    return ended(refusal(error))
  } finally {
    clearTimeout(changesMind)
  }
  tally.longestWait = Math.max(tally.longestWait, machineTime() - since)
  const end = machineTime() + (random() < 0.9 ? between(0, 40) : between(300, 2 * LONGEST_LEASE))
  tell('granted', machineTime() + hold.remaining())
  while (hold.remaining() > 0 && machineTime() < end) {
    await sleep(10)
    const at = machineTime()
    tell('checked', at + hold.remaining())
  }
  const kept = hold.remaining() > 0
  if (kept) tell('releasing')
  const released = await hold.release()
  tell(released && kept ? 'released' : 'lost')
  ended(released ? 'released' : 'lost')
}

void test(
  `a red-lock of ${SERVERS} servers, of which two are dead at random times, ${SECONDS} s → never two inside, and it goes on`,
  { timeout: (SECONDS + 90) * 1000 },
  async (t) => {
    const skip = await started({ ...redisEngine, start: async () => (await startRedis()).stop() })
    if (skip !== undefined) return t.skip(skip)
    const servers = await Promise.all(times(SERVERS, () => startRedis()))
    const clients: Client[] = []
    const tally: Tally = { history: [], ends: new Map(), calls: 0, longestWait: 0 }
    const options = { presence: false, commandTimeout: 1000, watchdog: LONGEST_LEASE }
    const connected = async ({ url }: RedisServer): Promise<Client> => {
      const client = await connect({ url, ...options })
      client.on('error', () => undefined)
      clients.push(client)
      return client
    }
    try {
      // All of them before any server is killed: who connects to a dead one is refused.
      const owns = await Promise.all(times(PARTIES, () => Promise.all(servers.map(connected))))
      const party = async (own: readonly Client[], index: number): Promise<void> => {
        const lock = (own[0] as Client).redLock(...own.map((client) => client.lock(NAME)))
        const until = machineTime() + SECONDS * 1000
        const work = async (): Promise<void> => {
          while (machineTime() < until) {
            await visit(lock, `p${index}`, tally)
            await sleep(between(0, 60))
          }
        }
        await Promise.all(times(WORKERS, work))
      }
      const parties = Promise.all(owns.map(party))
      parties.catch(() => undefined)
      const killed = await kill(servers, machineTime() + SECONDS * 1000)
      await parties
      const violations = checkHistory(tally.history)
      t.diagnostic(
        `${killed} killed; ${tally.calls} calls: ${[...tally.ends].map(([how, count]) => `${count} ${how}`).join(', ')}; ` +
          `longest wait ${Math.round(tally.longestWait)} ms; ${violations.length} violations`,
      )
      assertNone(violations)
      assert.ok(killed >= SECONDS / 5, `only ${killed} were killed`)
      // Who waits for a majority while others ask for it, too, asks again: the slower the machine, the more often.
      assert.ok((tally.ends.get('released') ?? 0) > 0.75 * SECONDS, 'hardly anybody had it')
    } finally {
      await Promise.all(clients.map((client) => client.close()))
      await Promise.all(servers.map((server) => server.stop()))
    }
  },
)
