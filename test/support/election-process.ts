import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'holdfast'
import { shutdownOn } from 'holdfast/node'

// A candidate. As long as it believes that it leads it writes its term down every few ms, the time first.
const [url = '', name = '', label = '', lease = '2000', file = ''] = process.argv.slice(2)

const now = (): bigint => process.hrtime.bigint()
const client = await connect({ url, label, retry: true })
client.on('error', () => undefined)
shutdownOn(client, ['SIGTERM'], { drain: 5000 })
process.stdout.write('ready\n')

await client.election(name).lead({ value: label, lease: Number(lease) }, async ({ signal, term }) => {
  for (;;) {
    const at = now()
    if (signal.aborted) break
    appendFileSync(file, `${at} ${term} ${label}\n`)
    await sleep(2)
  }
  // What a leader does when it is told to stop.
  await sleep(100)
  appendFileSync(file, `${now()} ${term} ${label} settled\n`)
})
