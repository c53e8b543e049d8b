import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, connect } from 'holdfast'
import { shutdownOn } from 'holdfast/node'

// A candidate. As long as it believes that it leads, it writes its term down every few ms: the time, the term, its label. Told 'resign', it resigns.
const [url = '', name = '', label = '', lease = '0', file = ''] = process.argv.slice(2)

const now = (): number => Number(process.hrtime.bigint()) / 1e6
const write = (at: number, term: bigint, more = ''): void => appendFileSync(file, `${at} ${term} ${label}${more}\n`)

/** The median of some trips to the server over the candidate's own connection, ms. */
const trip = async (client: Client): Promise<number> => {
  const took: number[] = []
  for (let i = 0; i < 21; i++) {
    const began = now()
    await client.election(`${name}-trip`).leader()
    took.push(now() - began)
  }
  return took.sort((one, other) => one - other)[10] as number
}

const client = await connect({ url, label, retry: true })
client.on('error', () => undefined)
shutdownOn(client, ['SIGTERM'], { drain: 5000 })
const election = client.election(name)
process.on('message', () => void election.resign())
process.on('disconnect', () => process.exit(1))
process.send?.({ trip: await trip(client) })

await election.lead({ value: label, lease: Number(lease) }, async ({ signal, term }) => {
  for (;;) {
    const at = now()
    // It is not aborted later than `at`: it was not before.
    if (signal.aborted) break
    write(at, term)
    await sleep(3)
  }
  write(now(), term, ' settled')
})
process.exit()
