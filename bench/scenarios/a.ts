import { randomUUID } from 'node:crypto'
import { connect } from 'holdfast'
import { lockAcquire, lockRelease } from '#src/lua/scripts.gen.js'
import { type Adapter, adapters, type Bare } from '../participants/bare-clients.js'
import type { Bench, Scenario } from '../measure/bench.js'
import { bareLock } from '../participants/bare-lock.js'
import { type Figures, medians, type Row, target } from '../base/result.js'

type Pair = () => Promise<unknown>

/** The two scripts that ship, by SHA, and nothing else. */
const bare = async ({ load, run }: Bare, name: string): Promise<Pair> => {
  for (const { text } of [lockAcquire, lockRelease]) await load(text)
  const id = randomUUID()
  const lock = bareLock(name)
  let owners = 0
  return async () => {
    const owner = `${id}:${(owners += 1)}`
    const [taking, giving] = [lock.take(owner, 30_000), lock.give(owner)]
    if ((await run(lockAcquire.sha, taking.keys, taking.args)) !== 'held') throw new Error('taken')
    await run(lockRelease.sha, giving.keys, giving.args)
  }
}

/** Pairs a second, one after the other. */
const rate = async (pair: Pair, seconds: number): Promise<number> => {
  const begun = performance.now()
  let pairs = 0
  while (performance.now() < begun + seconds * 1000) {
    await pair()
    pairs += 1
  }
  return (pairs * 1000) / (performance.now() - begun)
}

/** Within a round the two change places, and each is measured in short turns: what else the machine does meets both alike. */
const TURNS = 20

const measure = async (bench: Bench, adapter: Adapter, port: number): Promise<Row> => {
  const version = adapter.version()
  const row = { participant: adapter.name, family: adapter.name, version: version ?? '' }
  if (version === undefined) return { ...row, cells: {}, rounds: {}, note: 'not installed' }
  const client = await adapter.open(port)
  const own = await connect({ connection: client.connection })
  try {
    const lock = own.lock('own')
    const ways = [async () => (await lock.acquire()).release(), await bare(client, 'bare')] as const
    const seconds = (bench.quick ? 1.2 : 8) / TURNS / 2
    for (const way of ways) await rate(way, bench.quick ? 0.4 : 1)
    const figures: Figures[] = []
    for (let round = 0; round < bench.rounds; round += 1) {
      const sums = [0, 0] as [number, number]
      for (let turn = 0; turn < TURNS; turn += 1) {
        for (const which of turn % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
          sums[which] += (await rate(ways[which], seconds)) / TURNS
        }
      }
      figures.push({ rate: sums[0], bare: sums[1], ratio: sums[0] / sums[1] })
    }
    return { ...row, ...medians(figures) }
  } finally {
    await own.close()
    await client.end()
  }
}

export const a: Scenario = {
  id: 'a',
  title: 'A: one caller, over a client of the caller’s own, beside that client alone',
  about: {
    measures:
      'One caller takes and frees one lock in a loop, through `connect({ connection })`; beside it the same two scripts by ' +
      'the client’s own call for them. Both in one process, on one connection, in short turns.',
    differs: 'The bare client neither renews nor notices a loss, and reads no reply but whether it was had.',
    misleads:
      'One client’s figures say nothing of another’s: each is compared with itself. The server is on the same machine, so ' +
      'the share of the client is large.',
  },
  needsServer: true,
  async run(bench) {
    const rows: Row[] = []
    for (const adapter of adapters) rows.push(await measure(bench, adapter, bench.server!.redis.port))
    return {
      columns: [
        { key: 'rate', title: 'pairs/s', digits: 0 },
        { key: 'bare', title: 'bare', digits: 0 },
        { key: 'ratio', title: '× bare', digits: 2 },
      ],
      rows,
      targets: rows.map(({ participant, cells }) =>
        target(`≥ 0.90 × ${participant} alone`, cells['ratio'], (value) => value >= 0.9),
      ),
    }
  },
}
