import { connect } from 'holdfast'

/** Takes permits one after the other, in so many tasks, for so many ms; says how many it had. */
const [url = '', name = '', tasks = '6', ms = '3000'] = process.argv.slice(2)

const client = await connect(url)
const limiter = client.rateLimiter(name)
const until = performance.now() + Number(ms)
let had = 0
const task = async (index: number): Promise<void> => {
  for (let left = Number(ms); left > 0; left = until - performance.now()) {
    const permits = 1 + (index % 2)
    const { allowed } = await limiter.tryAcquire({ permits, wait: index % 3 === 0 ? 0 : left })
    if (allowed) had += permits
    else await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
await Promise.all(Array.from({ length: Number(tasks) }, (_, index) => task(index)))
await client.close()
process.stdout.write(String(had))
