import { connect } from 'holdfast'
import { Redis } from 'ioredis'

const [url = '', name = '', permits = '3', tasks = '6', rounds = '40'] = process.argv.slice(2)

const client = await connect(url)
const redis = new Redis(url)
let most = 0
let visits = 0
const task = async (index: number): Promise<void> => {
  for (let round = 0; round < Number(rounds); round += 1) {
    const wanted = 1 + ((index + round) % Number(permits))
    await client.semaphore(name).using({ permits: wanted }, async () => {
      most = Math.max(most, await redis.incrby('inside', wanted))
      await new Promise((resolve) => setTimeout(resolve, 1))
      await redis.decrby('inside', wanted)
      visits += 1
    })
  }
}
await Promise.all(Array.from({ length: Number(tasks) }, (_, index) => task(index)))
await client.close()
redis.disconnect()
process.stdout.write(JSON.stringify({ most, visits }))
