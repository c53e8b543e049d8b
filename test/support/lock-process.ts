import type { Client, FencedHold, Lock } from 'holdfast'
import { connect } from 'holdfast'
import { Redis } from 'ioredis'

const [job = '', url = '', name = '', owners = '8', rounds = '50', kind = 'lock'] = process.argv.slice(2)

/** Locks of every kind that exclude one another in `visits`. */
const open = (client: Client): Lock => {
  if (kind === 'fencedLock') return client.fencedLock(name)
  if (kind === 'spinLock') return client.spinLock(name)
  if (kind === 'multiLock') {
    const members = [client.lock(`${name}:a`), client.fairLock(`${name}:b`)]
    return client.multiLock(...(process.pid % 2 === 0 ? members : members.reverse()))
  }
  return client.lock(name)
}

const visits = async (): Promise<void> => {
  const client = await connect(url)
  const redis = new Redis(url)
  const stays: [string, string, string, string][] = []
  let crowded = 0
  const owner = async (index: number): Promise<void> => {
    for (let round = 0; round < Number(rounds); round += 1) {
      await open(client).using(async (hold) => {
        const from = process.hrtime.bigint()
        if ((await redis.get('inside')) !== null) crowded += 1
        await redis.set('inside', index)
        const seen = Number((await redis.get('counter')) ?? 0)
        await redis.set('counter', seen + 1)
        await redis.del('inside')
        const token = kind === 'fencedLock' ? (hold as FencedHold).token : 0n
        stays.push([`${process.pid}/${index}/${round}`, String(from), String(process.hrtime.bigint()), String(token)])
      })
    }
  }
  await Promise.all(Array.from({ length: Number(owners) }, (_, index) => owner(index)))
  await client.close()
  redis.disconnect()
  process.stdout.write(JSON.stringify({ crowded, stays }))
}

/** Mostly reads: who writes finds nobody inside, who reads no writer. */
const readsAndWrites = async (): Promise<void> => {
  const client = await connect(url)
  const redis = new Redis(url)
  const { read, write } = client.readWriteLock(name)
  const stays: [string, string, string, boolean][] = []
  let crowded = 0
  let together = 0
  const owner = async (index: number): Promise<void> => {
    for (let round = 0; round < Number(rounds); round += 1) {
      const shared = (index + round) % 5 !== 0
      await (shared ? read : write).using(async () => {
        const from = process.hrtime.bigint()
        const inside = await redis.hincrby('inside', shared ? 'readers' : 'writers', 1)
        const others = Number((await redis.hget('inside', shared ? 'writers' : 'readers')) ?? 0)
        if (others > 0 || (!shared && inside > 1)) crowded += 1
        if (shared && inside > 1) together += 1
        const seen = Number((await redis.get('counter')) ?? 0)
        if (!shared) await redis.set('counter', seen + 1)
        await redis.hincrby('inside', shared ? 'readers' : 'writers', -1)
        stays.push([`${process.pid}/${index}/${round}`, String(from), String(process.hrtime.bigint()), shared])
      })
    }
  }
  await Promise.all(Array.from({ length: Number(owners) }, (_, index) => owner(index)))
  await client.close()
  redis.disconnect()
  process.stdout.write(JSON.stringify({ crowded, together, stays }))
}

const holdUntilKilled = async (): Promise<void> => {
  const client = await connect({ url, watchdog: 3000 })
  await client.lock(name).acquire()
  void client.lock(name).acquire()
  process.stdout.write('held\n')
  setInterval(() => undefined, 1000)
}

const closeAndEnd = async (): Promise<void> => {
  const client = await connect(url)
  const hold = await client.lock(name).acquire()
  const waiting = client.lock(name).acquire({ wait: 60_000 })
  waiting.catch(() => undefined)
  await client.lock(`${name}:leased`).acquire({ lease: 60_000 })
  await client.close()
  process.stdout.write(hold.state)
}

const detach = async (): Promise<void> => {
  const client = await connect(url)
  const hold = await client.lock(name).acquire()
  process.stdout.write(await hold.detach())
  await client.close()
}

const takeOver = async (): Promise<void> => {
  const client = await connect(url)
  process.stdout.write('waiting\n')
  await client.lock(name).acquire({ lease: 20_000 })
  process.stdout.write('had\n')
  await client.close({ release: false })
}

const jobs: Record<string, () => Promise<void>> = {
  visits,
  readsAndWrites,
  holdUntilKilled,
  closeAndEnd,
  detach,
  takeOver,
}
await jobs[job]?.()
