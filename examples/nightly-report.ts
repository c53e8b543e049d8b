// Every instance of a service wakes up at midnight; one writes the report, the others see that and go back to sleep.
//
//   node .build/examples/nightly-report.js            (built by npm test) on the embedded engine, three instances in this process
//   HOLDFAST_URL=redis://localhost:6379 node …        start it in several terminals at once
import { connect } from 'holdfast'
import { setTimeout as sleep } from 'node:timers/promises'

const url = process.env['HOLDFAST_URL'] ?? 'memory:nightly'

const instance = async (name: string): Promise<void> => {
  await using client = await connect({ url, label: name })
  const lock = client.lock('reports:nightly')
  await using hold = await lock.tryAcquire()
  if (hold === undefined) {
    const [holder] = (await lock.inspect()).holders
    console.log(`${name}: ${holder?.label ?? 'somebody'} is at it already`)
    return
  }
  console.log(`${name}: writing the report`)
  for (let page = 1; page <= 3; page++) {
    await sleep(100)
    // Renewed while we work. Should that fail, the signal says so before another instance can begin.
    hold.signal.throwIfAborted()
  }
  console.log(`${name}: done`)
}

await Promise.all(['ada', 'bob', 'cleo'].map(instance))
