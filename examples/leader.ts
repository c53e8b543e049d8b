// Several instances of a service, of which one at a time reads the mailbox. When it stops or dies the next one takes over.
//
//   node .build/examples/leader.js            (built by npm test) on the embedded engine, three instances in this process for two seconds
//   HOLDFAST_URL=redis://localhost:6379 node …        start it in several terminals; stop the leader with Ctrl-C or kill -9
import { connect } from 'holdfast'
import { shutdownOn } from 'holdfast/node'
import { setTimeout as sleep } from 'node:timers/promises'

const url = process.env['HOLDFAST_URL']
const names = process.argv[2]?.split(',') ?? ['ada', 'bob', 'cleo']

const instance = async (name: string): Promise<void> => {
  const client = await connect({ url: url ?? 'memory:leader', label: name })
  shutdownOn(client, ['SIGTERM', 'SIGINT'])
  // On the embedded engine each leads for a moment, so that there is something to see.
  const rounds = url === undefined ? 3 : Infinity

  await client.election('mailbox').lead({ value: { name }, lease: 5000 }, async ({ signal, term }) => {
    console.log(`${name}: leading, term ${term}`)
    for (let round = 0; round < rounds && !signal.aborted; round++) {
      // In real life: read what is new, and write it to a database that rejects a smaller term than the last.
      await sleep(200, undefined, { signal }).catch(() => undefined)
    }
    console.log(`${name}: no longer leading`)
  })
  await client.close()
}

await Promise.all(names.map(instance))
