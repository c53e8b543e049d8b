import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connect } from 'holdfast'
import { redisEngine, started } from '../../support/engines.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'
import { until } from '../../support/until.js'

const program = fileURLToPath(new URL('../../support/election-process.js', import.meta.url))
const LEASE = 2000
/** Of a loaded machine, ms. */
const SLACK = 1500

interface Sign {
  readonly at: number
  readonly term: bigint
  readonly label: string
  readonly settled: boolean
}

describe('three candidates in processes of their own', { concurrency: 1 }, () => {
  let server: RedisServer | undefined
  let skip: string | undefined
  let elections = 0
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-election-'))
  const children = new Map<string, ChildProcess>()

  before(async () => {
    skip = await started(redisEngine)
    await redisEngine.stop?.()
    if (skip === undefined) server = await startRedis()
  })
  after(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const file = (): string => join(folder, `signs-${elections}`)
  const signs = (): Sign[] =>
    readFileSync(file(), 'utf8')
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' '))
      .map(([at = '', term = '', label = '', end]) => ({
        ...{ at: Number(at) / 1e6, term: BigInt(term), label },
        settled: end !== undefined,
      }))
      .sort((one, other) => one.at - other.at)
  const now = (): number => Number(process.hrtime.bigint()) / 1e6
  const leader = (): string | undefined => signs().at(-1)?.label

  const candidate = async (label: string): Promise<ChildProcess> => {
    const args = [program, server?.url ?? '', `e${elections}`, label, String(LEASE), file()]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    children.set(label, child)
    await once(child.stdout, 'data')
    return child
  }

  /** The line of candidates, then something happens to the one that leads, and another leads: how long nobody did. */
  const begin = async (): Promise<void> => {
    elections++
    children.clear()
    writeFileSync(file(), '')
    for (const label of ['a', 'b', 'c']) {
      await candidate(label)
      await sleep(300)
    }
    assert.equal(leader(), 'a', 'the first that came leads')
  }

  const gap = async (from: string, at: number): Promise<number> => {
    await until(() => signs().some((sign) => sign.at > at && sign.label !== from && !sign.settled))
    return signs().find((sign) => sign.at > at && sign.label !== from)!.at - at
  }

  const end = async (): Promise<void> => {
    for (const child of children.values()) child.kill('SIGKILL')
    const all = signs()
    let newest = 0n
    for (const { at, term, label, settled } of all) {
      // The lease is kept until the work has settled: so what it did last is before the next term, too.
      assert.ok(
        term >= newest,
        `${label} ${settled ? 'settled' : 'leads'} in term ${term} at ${at}, after term ${newest}`,
      )
      newest = term
    }
    const owners = new Map(all.map(({ term, label }) => [term, label]))
    for (const { term, label } of all) assert.equal(owners.get(term), label, `term ${term} is of two`)
  }

  void test('kill -9 → the next one leads when the lease is over', async (t) => {
    if (skip !== undefined) return t.skip(skip)
    await begin()
    const at = now()
    children.get('a')!.kill('SIGKILL')
    const took = await gap('a', at)
    t.diagnostic(`${took.toFixed(0)} ms without a leader, lease ${LEASE}`)
    assert.ok(took < LEASE + SLACK, `${took} ms`)
    assert.equal(leader(), 'b', 'in the order of coming')
    await end()
  })

  void test('SIGTERM, with a drain → the next one leads as soon as the work has settled', async (t) => {
    if (skip !== undefined) return t.skip(skip)
    await begin()
    const at = now()
    children.get('a')!.kill('SIGTERM')
    await gap('a', at)
    const settled = signs().find((sign) => sign.settled)!
    assert.equal(settled.label, 'a')
    const took = await gap('a', settled.at)
    t.diagnostic(`${took.toFixed(1)} ms after the work had settled`)
    assert.ok(took < 500, `${took} ms`)
    assert.equal(leader(), 'b')
    await end()
  })

  void test('stopped for longer than its lease → the next one leads; when it goes on, it believes nothing', async (t) => {
    if (skip !== undefined) return t.skip(skip)
    await begin()
    const at = now()
    children.get('a')!.kill('SIGSTOP')
    const took = await gap('a', at)
    t.diagnostic(`${took.toFixed(0)} ms without a leader, lease ${LEASE}`)
    assert.ok(took < LEASE + SLACK, `${took} ms`)
    await sleep(500)
    children.get('a')!.kill('SIGCONT')
    await until(() => signs().some((sign) => sign.label === 'a' && sign.settled))
    const after = signs().filter((sign) => sign.label === 'a' && sign.at > at + 200 && !sign.settled)
    assert.deepEqual(after, [], 'a wrote nothing as a leader after it was stopped')
    children.get('b')!.kill('SIGKILL')
    await until(() => leader() === 'c')
    children.get('c')!.kill('SIGKILL')
    await until(() => leader() === 'a')
    for (const child of children.values()) child.kill('SIGKILL')
    const led = signs().filter((sign) => !sign.settled)
    led.forEach(({ term }, i) => assert.ok(i === 0 || term >= led[i - 1]!.term))
    assert.deepEqual([...new Set(led.map(({ label }) => label))], ['a', 'b', 'c'])
  })

  void test('an observer beside them, its leader killed → it sees each leader once, in order, and nobody between', async (t) => {
    if (skip !== undefined) return t.skip(skip)
    const client = await connect(server!.url)
    await begin()
    const seen: (string | undefined)[] = []
    const stop = new AbortController()
    const loop = (async () => {
      for await (const one of client.election(`e${elections}`).observe({ signal: stop.signal }))
        seen.push(one?.value as string | undefined)
    })()
    await until(() => seen.length === 1)
    children.get('a')!.kill('SIGKILL')
    await until(() => seen.includes('b'))
    children.get('b')!.kill('SIGTERM')
    await until(() => seen.includes('c'))
    assert.deepEqual(
      seen.filter((value) => value !== undefined),
      ['a', 'b', 'c'],
    )
    stop.abort()
    await assert.rejects(loop)
    await end()
    await client.close()
  })
})
