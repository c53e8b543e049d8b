import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EngineError } from 'holdfast'
import { type VirtualClock, virtualClock } from 'holdfast/testing'
import { type Clock, systemClock } from '#src/base/clock.js'
import { ConnectionReplacement } from '#src/engine/when-to-replace-connection.js'
import type { Connection, Driver } from '#src/engine/driver.js'
import type { Endpoint } from '#src/engine/endpoint.js'
import { ownClient } from '#src/engine/ioredis/own-client.js'

const EXTREMES = [0, 0.999_999]
const NODES = [{ host: '127.0.0.1', port: 1 }]

type Pause = (attempt: number) => number

interface Strategies {
  readonly retryStrategy: Pause
  readonly sentinelRetryStrategy: Pause
  readonly clusterRetryStrategy: Pause
}

const strategiesOf = (topology: Endpoint['topology'], random: number): Strategies => {
  const clock: Clock = { ...systemClock, random: () => random }
  const endpoint: Endpoint = { address: 'nowhere', topology, nodes: NODES, master: 'main', tls: false }
  const client = ownClient(endpoint, { connectTimeout: 1000, commandTimeout: 1000, clock })
  // The sentinels have named a master before.
  ;(client as unknown as { emit(event: string): void }).emit('ready')
  client.disconnect()
  return client.options as unknown as Strategies
}

void describe('pauses before a connection of our own is made again', () => {
  for (const [topology, strategy] of [
    ['single', 'retryStrategy'],
    ['sentinel', 'retryStrategy'],
    ['sentinel', 'sentinelRetryStrategy'],
    ['cluster', 'clusterRetryStrategy'],
    ['replicated', 'retryStrategy'],
  ] as const) {
    void test(`${topology}, ${strategy}: drawn from a quarter either way, longer at each attempt, 2.5 s at most`, () => {
      const [least, most] = EXTREMES.map((random) => strategiesOf(topology, random)[strategy]) as [Pause, Pause]
      let before = 0
      for (const attempt of [1, 2, 4, 7, 20, 1000]) {
        const middle = (least(attempt) + most(attempt)) / 2
        assert.ok(Math.abs(least(attempt) / middle - 0.75) < 0.01, `${least(attempt)} of ${middle}`)
        assert.ok(Math.abs(most(attempt) / middle - 1.25) < 0.01, `${most(attempt)} of ${middle}`)
        assert.ok(middle >= before && most(attempt) <= 2500)
        before = middle
      }
    })
  }
})

/** Clients that see the same trouble in the same millisecond. */
const clients = (count: number) =>
  Array.from({ length: count }, (_, seed) => {
    const clock: VirtualClock = virtualClock(seed)
    const acted: number[] = []
    const connection: Connection = { bytesRead: 0, destroy: () => void acted.push(clock.monotonic()) }
    const driver = {
      owing: () => [connection],
      reconnect: () => void acted.push(clock.monotonic()),
    } as Partial<Driver> as Driver
    const never = (): never => {
      throw new Error('the connection is our own')
    }
    const events = { error: never, moved: never }
    const replacement = new ConnectionReplacement(driver, { clock, commandTimeout: 1000 }, events)
    return { clock, acted, replacement, begun: clock.monotonic() }
  })

void describe('many clients of a server that is to be left', () => {
  void test('it is silent → each drops its connection after 1 to 1.25 s, not all at once', async () => {
    const all = clients(40)
    const after: number[] = []
    for (const { clock, acted, replacement, begun } of all) {
      replacement.suspect()
      await clock.advance(2000)
      assert.equal(acted.length, 1)
      after.push((acted[0] ?? NaN) - begun)
    }
    assert.ok(Math.min(...after) >= 1000 && Math.max(...after) <= 1250 + 50, String(after))
    assert.ok(Math.max(...after) - Math.min(...after) > 100, String(after))
  })

  void test('it refuses as a replica does → after 0.1 s, 0.2 s, … up to 3 s, each a quarter either way', async () => {
    const refusal = new EngineError('READONLY', 'READONLY it follows another')
    const pauses: number[][] = []
    for (const { clock, acted, replacement } of clients(40)) {
      const mine: number[] = []
      for (let round = 0; round < 8; round++) {
        const begun = clock.monotonic()
        replacement.refused(refusal)
        replacement.refused(refusal)
        await clock.advance(4000)
        assert.equal(acted.length, round + 1)
        mine.push((acted.at(-1) ?? NaN) - begun)
      }
      pauses.push(mine)
    }
    for (let round = 0; round < 8; round++) {
      const middle = Math.min(100 * 2 ** round, 3000)
      const of = pauses.map((mine) => mine[round] ?? NaN)
      assert.ok(
        of.every((ms) => ms >= 0.74 * middle && ms <= 1.26 * middle),
        `${middle}: ${of.join(' ')}`,
      )
      assert.ok(Math.max(...of) - Math.min(...of) > 0.25 * middle, `${middle}: ${of.join(' ')}`)
    }
  })
})
