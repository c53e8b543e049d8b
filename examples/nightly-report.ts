// Every instance of a service wakes up at midnight. One writes the report of the day, once, however far apart they start and whatever their clocks
// say; the others see that it is written. Should the one that writes crash, another one takes over after its lease.
//
//   node .build/examples/nightly-report.js            (built by npm test) on the embedded engine, three instances in this process
//   HOLDFAST_URL=redis://localhost:6379 node …        start it in several terminals at once, or one after the other
import { connect } from 'holdfast'
import { setTimeout as sleep } from 'node:timers/promises'

const url = process.env['HOLDFAST_URL'] ?? 'memory:nightly'
const names = process.argv[2]?.split(',') ?? ['ada', 'bob', 'cleo']

const instance = async (name: string): Promise<void> => {
  await using client = await connect({ url, label: name })
  const nightly = client.slots('reports:nightly')
  // The UTC day by the server's clock. Rounded to the minute, because an instance whose clock is ahead wakes up a little before midnight.
  const minute = Math.round((await nightly.now()) / 60_000) * 60_000
  const day = new Date(minute).toISOString().slice(0, 10)

  const result = await nightly.run(day, { retry: 3, lease: 5000 }, async ({ signal, token }) => {
    console.log(`${name}: writing the report`)
    for (let page = 1; page <= 3; page++) {
      await sleep(100)
      // The slot is renewed while we work. Should that fail, the signal says so before another instance can begin.
      signal.throwIfAborted()
    }
    // In real life, store the report with the token, in a database that rejects a smaller one than the last.
    console.log(`${name}: done, token ${token}`)
  })
  if (result.outcome === 'failed') throw result.error
  if (result.outcome === 'skipped') {
    const { reason } = result
    console.log(
      `${name}: the report of ${day} is ${reason === 'ran' ? 'written already' : `not written here: ${reason}`}`,
    )
  }
}

await Promise.all(names.map(instance))
