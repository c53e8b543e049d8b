import { connect, LockLostError } from 'holdfast'

/**
 * Takes permits of a short lease by the dozen, gives some of them back and lets the others expire, in so many tasks, for so
 * many ms. Prints for how long it counted on how many: [from, until, count], ms by the clock that all processes have in common;
 * and how many it was granted in all.
 */
const [url = '', name = '', lease = '100', tasks = '20', ms = '6000'] = process.argv.slice(2)

const now = (): number => Number(process.hrtime.bigint()) / 1e6
const client = await connect(url)
const permits = client.permitSemaphore(name)
const until = now() + Number(ms)
const counted: [from: number, until: number, count: number][] = []
let granted = 0

const task = async (index: number): Promise<void> => {
  for (let round = 0; now() < until; round++) {
    const count = 1 + ((7 * index + 13 * round) % 60)
    let taken
    try {
      taken = await permits.acquireMany(count, { lease: Number(lease), wait: 10_000 })
    } catch (error) {
      // The answer came when its lease was over: so busy may a machine be.
      if (!(error instanceof LockLostError)) throw error
      granted += count
      continue
    }
    granted += count
    const from = now()
    const left = Math.min(...taken.map((permit) => permit.remaining()))
    if (left <= 0) continue
    const back = round % 3 === 0
    if (back) await new Promise((resolve) => setTimeout(resolve, 10))
    counted.push([from, back ? Math.min(now(), from + left) : from + left, count])
    if (back) await Promise.all(taken.map((permit) => permit.release()))
  }
}
await Promise.all(Array.from({ length: Number(tasks) }, (_, index) => task(index)))
// Closing gives back what has not expired yet, and others have it: from then on nobody here counts on it.
const closing = now()
await client.close()
const ended = counted.map(([from, until, count]) => [from, Math.min(until, closing), count])
process.stdout.write(JSON.stringify({ counted: ended, granted }))
