import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connect } from 'holdfast'
import { shutdownOn } from 'holdfast/node'
import { Redis } from 'ioredis'
import { startRedis } from '../../support/redis-server.js'

/**
 * Three processes work under one lock; every second one of them is told to end, and another takes its place. Nobody may be inside
 * beside another, nothing may be left, and every process must be gone in time.
 *
 *     npm run soak -- shutdown --minutes 5
 */

const DRAIN = 3000
/** Drain, what a release may take without an answer, and what a busy machine takes. */
const GONE_BY = DRAIN + 4000 + 3000

const work = async (url: string): Promise<void> => {
  const [client, redis] = [await connect(url), new Redis(url)]
  shutdownOn(client, ['SIGTERM', 'SIGINT'], { drain: DRAIN })
  while (!client.closing.aborted) {
    try {
      await client.lock('soak').using(async () => {
        if ((await redis.incr('inside')) !== 1) await redis.incr('overlaps')
        await sleep(20 + Math.random() * 200)
        await redis.decr('inside')
        await redis.incr('visits')
      })
    } catch (error) {
      if (!client.closing.aborted) throw error
    }
  }
}

const start = (url: string): ChildProcess =>
  spawn(process.execPath, [fileURLToPath(import.meta.url), '--work', url], { stdio: ['ignore', 'ignore', 'inherit'] })

interface Figures {
  ended: number
  slowest: number
  readonly wrong: string[]
}

const replace = async (child: ChildProcess, figures: Figures): Promise<void> => {
  const since = performance.now()
  const exit = once(child, 'exit')
  child.kill(Math.random() < 0.5 ? 'SIGTERM' : 'SIGINT')
  const late = setTimeout(() => child.kill('SIGKILL'), GONE_BY)
  const [code, signal] = (await exit) as [number | null, string | null]
  clearTimeout(late)
  figures.ended++
  figures.slowest = Math.max(figures.slowest, performance.now() - since)
  if (signal === 'SIGKILL' || signal === null) figures.wrong.push(`a process ended with ${String(signal ?? code)}`)
}

const soak = async (minutes: number): Promise<void> => {
  const server = await startRedis()
  const redis = new Redis(server.url)
  const figures: Figures = { ended: 0, slowest: 0, wrong: [] }
  const crew = [0, 1, 2].map(() => start(server.url))
  const until = performance.now() + minutes * 60_000
  // Node has to have started before it can hear a signal.
  await sleep(2000)
  for (let turn = 0; performance.now() < until; turn++) {
    const place = turn % crew.length
    await replace(crew[place] as ChildProcess, figures)
    crew[place] = start(server.url)
    await sleep(1000)
  }
  await sleep(2000)
  await Promise.all(crew.map((child) => replace(child, figures)))
  const [visits, overlaps, inside] = (await redis.mget('visits', 'overlaps', 'inside')).map((count) =>
    Number(count ?? 0),
  )
  const left = (await redis.keys('*')).filter((key) => !['visits', 'overlaps', 'inside'].includes(key))
  redis.disconnect()
  await server.stop()
  if (overlaps !== 0) figures.wrong.push(`${overlaps} overlaps`)
  if (inside !== 0) figures.wrong.push(`${inside} were ended inside`)
  if (left.length > 0) figures.wrong.push(`left behind: ${left.join(', ')}`)
  console.log(`${figures.ended} processes ended, the slowest after ${Math.round(figures.slowest)} ms; ${visits} visits`)
  for (const wrong of figures.wrong) console.log(`✘ ${wrong}`)
  if (figures.wrong.length > 0 || visits === 0) process.exitCode = 1
}

const [flag, value = '1'] = process.argv.slice(2)
if (flag === '--work') await work(value)
else await soak(Number(flag === '--minutes' ? value : 1))
