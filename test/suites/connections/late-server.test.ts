import { connect as dial, createServer } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'holdfast'
import type { Options } from '../../support/worlds.js'
import { startCluster } from '../../support/redis-cluster.js'
import { freePort } from '../../support/redis-server.js'
import { startWatched } from '../../support/redis-sentinel.js'
import { startTlsServer } from '../../support/tls-server.js'

/** Whoever dials is refused at first; later on, somebody listens there and passes on what is said. */
const comesLate = async (port: number, options: (port: number) => Partial<Options>): Promise<void> => {
  const late = await freePort()
  const connecting = connect({ ...options(late), retry: { timeout: 20_000 } })
  await sleep(700)
  const listener = createServer((near) => {
    const far = dial(port, '127.0.0.1')
    for (const [from, to] of [[near, far] as const, [far, near] as const]) {
      from.on('error', () => to.destroy()).pipe(to)
    }
  }).listen(late, '127.0.0.1')
  try {
    const client = await connecting
    await client.lock('a').using(() => undefined)
    await client.close()
  } finally {
    listener.close()
  }
}

void describe('a server that comes after its client', { concurrency: 3 }, () => {
  test('sentinels', async () => {
    const { url, stop } = await startWatched(0)
    const [, port] = /127\.0\.0\.1:(\d+)/.exec(url) ?? []
    const name = url.split('/').at(-1)
    await comesLate(Number(port), (late) => ({ url: `redis+sentinel://127.0.0.1:${late}/${name}` })).finally(stop)
  })

  test('a cluster', async () => {
    const cluster = await startCluster()
    await comesLate(cluster.nodes[0]?.port ?? 0, (late) => ({ url: `redis+cluster://127.0.0.1:${late}` })).finally(() =>
      cluster.stop(),
    )
  })

  test('TLS', async () => {
    const { port, authority, client, stop } = await startTlsServer()
    const tls = { ca: authority.cert, cert: client.cert, key: client.key }
    await comesLate(port, (late) => ({ url: `rediss://127.0.0.1:${late}`, tls })).finally(stop)
  })
})
