import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, connect } from 'holdfast'
import { onAsked } from 'holdfast/dashboard'
import { askFor } from '#src/dashboard/ask-to-release.js'
import { startCluster } from '../support/redis-cluster.js'
import { until } from '../support/until.js'

void test('on a cluster, a client that listens at any node is asked, and one that does not listen is not', async (t) => {
  const cluster = await startCluster().catch((error: unknown) => {
    t.skip(String(error))
    return undefined
  })
  if (cluster === undefined) return
  const clients: Client[] = []
  t.after(async () => {
    for (const client of clients) await client.close()
    await cluster.stop()
  })
  const open = async (): Promise<Client> => {
    const client = await connect(cluster.url)
    clients.push(client)
    return client
  }
  const asking = await open()
  assert.equal(await askFor(asking, (await open()).id, { name: 'deploy', kind: 'lock' }), false)
  for (let counted = 0, elsewhere = 0; elsewhere === 0;) {
    const holder = await open()
    const heard: string[] = []
    await onAsked(holder, ({ name }) => void heard.push(name))
    const channel = asking.topic<string>(`holdfast:client:${holder.id}:asked`, { codec: 'string' })
    if ((await channel.publish('')) === 0) elsewhere += 1
    else counted += 1
    assert.equal(await askFor(asking, holder.id, { name: 'deploy', kind: 'lock' }), true)
    await until(() => heard.length === 1)
    assert.ok(counted < 50, 'all of them listen where the message is published')
  }
})
