// A report that takes a second to compute has just expired, and a hundred requests per instance want it. One instance computes it, once; all others get
// the result when it is ready. Should the one that computes crash, another one takes over after its lease.
//
//   node .build/examples/cache-stampede.js            (built by npm test) on the embedded engine, three instances in this process
//   HOLDFAST_URL=redis://localhost:6379 node …        start it in several terminals within a second, or again within five
import { connect } from 'holdfast'
import { setTimeout as sleep } from 'node:timers/promises'

const url = process.env['HOLDFAST_URL'] ?? 'memory:stampede'
const names = process.argv[2]?.split(',') ?? ['ada', 'bob', 'cleo']

interface Report {
  readonly total: number
  readonly by: string
}

const instance = async (name: string): Promise<void> => {
  await using client = await connect({ url, label: name })
  const reports = client.flight('reports')

  const request = async (): Promise<Report> => {
    // Fresh for 5 s. For 30 s more the old report is good enough, while one instance computes a new one in the background.
    const options = { ttl: 5000, stale: 30_000, lease: 2000 }
    const { value } = await reports.run('2026-11', options, async ({ signal }) => {
      console.log(`${name}: computing`)
      await sleep(1000)
      // Another instance computes it by now, or somebody called reports.forget(): nobody would see this result.
      signal.throwIfAborted()
      return { total: 42, by: name }
    })
    return value
  }

  const began = performance.now()
  const values = await Promise.all(Array.from({ length: 100 }, request))
  const by = [...new Set(values.map((value) => value.by))].join(', ')
  console.log(
    `${name}: ${values.length} requests got the report of ${by} within ${Math.round(performance.now() - began)} ms`,
  )
}

await Promise.all(names.map(instance))
