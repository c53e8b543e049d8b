import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { anyMaster } from '#src/cli/any-master.js'
import { withProbe } from '#src/probe.js'
import { ServerTime } from '#src/dashboard/server-time.js'
import type { Client } from '../support/engines.js'

const HOUR = 3_600_000

/** A client of a cluster whose masters' clocks differ by hours. The last of `answering` answers first. */
const clustered = () => {
  const nodes = { masters: ['a', 'b', 'c'], answering: ['a', 'b', 'c'], asked: [] as string[], hanging: '' }
  const command = async (_argv: unknown, _shape: unknown, { node }: { node: string }) => {
    nodes.asked.push(node)
    const turns = nodes.answering.length - nodes.answering.indexOf(node)
    for (let i = 0; i < turns * 10; i += 1) await Promise.resolve()
    if (node === nodes.hanging) await new Promise(() => undefined)
    if (!nodes.answering.includes(node)) throw new Error(`${node} is away`)
    const ms = Date.now() + 'abc'.indexOf(node) * HOUR
    return [`${Math.floor(ms / 1000)}`, `${(ms % 1000) * 1000}`]
  }
  const link = {
    command,
    get masters() {
      return nodes.masters
    },
  }
  const runtime = { link, keyOf: (key: string) => key, untilClosed: (work: () => unknown) => work() }
  const client = withProbe({ id: 'x', warnings: [] } as never, runtime as never, { warnings: [] } as never)
  return { client, nodes }
}

const nodeAsked = (client: Client): Promise<unknown> =>
  anyMaster(
    client,
    async (probe, node) => {
      await probe.texts(['TIME'], node)
      return node
    },
    () => assert.fail('it can be probed'),
  )

void describe('one master of a cluster', () => {
  void test('the first that answers is asked as long as it answers, then another', async () => {
    const { client, nodes } = clustered()
    assert.equal(await nodeAsked(client), 'c')
    nodes.answering = ['c', 'b', 'a']
    nodes.asked.length = 0
    assert.deepEqual([await nodeAsked(client), nodes.asked], ['c', ['c']])
    nodes.answering = ['b', 'a']
    assert.equal(await nodeAsked(client), 'a')
    nodes.answering = ['a', 'b', 'c']
    assert.equal(await nodeAsked(client), 'a')
    nodes.answering = []
    await assert.rejects(nodeAsked(client), /b is away/)
    nodes.answering = ['a', 'b', 'c']
    assert.equal(await nodeAsked(client), 'a')
  })

  void test('the one that answered before hangs → the others are asked soon, and the one that answers stays', async () => {
    const { client, nodes } = clustered()
    assert.equal(await nodeAsked(client), 'c')
    nodes.hanging = 'c'
    const began = performance.now()
    assert.equal(await nodeAsked(client), 'b')
    const took = performance.now() - began
    assert.ok(took > 400 && took < 2000, `${took} ms; a command time-out is 3000 ms`)
    nodes.hanging = ''
    nodes.asked.length = 0
    assert.deepEqual([await nodeAsked(client), nodes.asked], ['b', ['b']])
    nodes.hanging = 'c'
    nodes.answering = ['a']
    assert.equal(await nodeAsked(client), 'a', 'one answers, one is away, one hangs')
  })

  void test('a master that is one no more is not asked', async () => {
    const { client, nodes } = clustered()
    assert.equal(await nodeAsked(client), 'c')
    nodes.masters = ['a', 'b']
    assert.equal(await nodeAsked(client), 'b')
    assert.equal(nodes.asked.filter((node) => node === 'c').length, 1)
  })

  void test('the time of the dashboard is that of one clock; if another server must be asked, the clock counts as set', async () => {
    const { client, nodes } = clustered()
    const clock = new ServerTime(client)
    const ahead = async (): Promise<number> => {
      await clock.ask()
      return Math.round((clock.now() - Date.now()) / HOUR)
    }
    for (const first of ['c', 'a', 'b', 'c', 'a']) {
      nodes.answering = [...['a', 'b', 'c'].filter((node) => node !== first), first]
      assert.equal(await ahead(), 2, `${first} would be the first`)
    }
    assert.equal(clock.timesSet, 0)
    nodes.answering = ['b', 'a']
    assert.deepEqual([await ahead(), clock.timesSet], [0, 1])
    nodes.answering = ['a', 'b', 'c']
    assert.deepEqual([await ahead(), clock.timesSet], [0, 1])
  })
})
