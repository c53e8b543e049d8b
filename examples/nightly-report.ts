// Every instance of a service wakes up at midnight. One writes the report of the day, once, however far apart they start; the
// others see that it is written. Should the one that writes crash, the next one takes over after its lease.
//
//   node .build/examples/nightly-report.js            (built by npm test) on the embedded engine, three instances in this process
//   HOLDFAST_URL=redis://localhost:6379 node …        start it in several terminals at once, or one after the other
import { connect } from 'holdfast'
import { setTimeout as sleep } from 'node:timers/promises'

const url = process.env['HOLDFAST_URL'] ?? 'memory:nightly'
const names = process.argv[2]?.split(',') ?? ['ada', 'bob', 'cleo']
const day = new Date().toISOString().slice(0, 10)

const instance = async (name: string): Promise<void> => {
  await using client = await connect({ url, label: name, watchdog: 5000 })
  const keys = [`reports:nightly:${day}`]
  const written = client.script("return redis.call('EXISTS', KEYS[1])")
  const markWritten = client.script("return redis.call('SET', KEYS[1], ARGV[1], 'EX', 172800)")

  // The lock keeps two from writing at once. That it has been written the lock cannot know: it is free again afterwards.
  await client.lock('reports:nightly').using(async ({ signal }) => {
    if (await written.run({ keys, returns: 'boolean' })) {
      console.log(`${name}: the report of ${day} is written already`)
      return
    }
    console.log(`${name}: writing the report`)
    for (let page = 1; page <= 3; page++) {
      await sleep(100)
      // The lock is renewed while we work. Should that fail, the signal says so before another instance can begin.
      signal.throwIfAborted()
    }
    // In real life, in the transaction that stores the report.
    await markWritten.run({ keys, args: [name] })
    console.log(`${name}: done`)
  })
}

await Promise.all(names.map(instance))
