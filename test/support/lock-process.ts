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

const jobs: Record<string, () => Promise<void>> = { visits, holdUntilKilled, closeAndEnd, detach, takeOver }
await jobs[job]?.()
