import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Redis } from 'ioredis'
import { fairDeadlines, fairQueue, lockChannel } from './names.js'
import { now } from './redisson.js'
import type { Life } from './work-history.js'

/** When each waiter of a fair lock was last called. */
export const hearCalls = async (
  redis: Redis,
  name: string,
): Promise<{ at: ReadonlyMap<string, number>; stop(): void }> => {
  const ears = redis.duplicate()
  const at = new Map<string, number>()
  const prefix = `${lockChannel(name)}:`
  ears.on('pmessage', (_: string, channel: string) => at.set(channel.slice(prefix.length), now()))
  await ears.psubscribe(`${prefix}*`)
  return { at, stop: () => ears.disconnect() }
}

/** Where its threads are in Redisson. */
const framesOf = async (pid: number): Promise<string[]> => {
  try {
    const { stdout } = await promisify(execFile)('jcmd', [String(pid), 'Thread.print'], { timeout: 10_000 })
    return stdout
      .split('\n\n')
      .filter((thread) => thread.includes('holdfast.interop.Work'))
      .map((thread) => {
        const frames = [
          ...thread.matchAll(/at (?:\S*\.)?((?:Semaphore|CompletableFuture|RedissonLock|Place|Work\$Worker)\.\w+)\(/g),
        ]
        return `  ${/^"(.*?)"/m.exec(thread)?.[1] ?? ''}: ${frames.map(([, frame]) => frame).join(' < ')}`
      })
  } catch (error) {
    return [`  no thread dump: ${String(error).split('\n', 1)[0] ?? ''}`]
  }
}

/** What the server knows of a process that does not come to an end, and where it stands still, as lines. */
export const lastFacts = async (
  redis: Redis,
  name: string,
  calls: ReadonlyMap<string, number>,
  { who, client, pid }: Life & { readonly pid: number },
): Promise<string[]> => {
  const queue = await redis.lrange(fairQueue(name), 0, -1)
  const [seconds, micros] = (await redis.time()).map(Number) as [number, number]
  const holder = (await redis.hkeys(name))[0] ?? 'nobody'
  const lines = [
    `${who} at its end: '${name}' is held by ${holder} for ${await redis.pttl(name)} ms; ${queue.length} wait`,
  ]
  if (client === undefined) return lines
  const prefix = `${lockChannel(name)}:`
  const channels = (await redis.pubsub('CHANNELS', `${prefix}${client}:*`)) as string[]
  const listening = new Set(channels.map((channel) => channel.slice(prefix.length)))
  for (const owner of new Set([...listening, ...queue.filter((one) => one.startsWith(client))])) {
    const place = queue.indexOf(owner)
    const deadline = await redis.zscore(fairDeadlines(name), owner)
    const called = calls.get(owner)
    const facts = [
      place < 0 ? 'not in the queue' : `at ${place} in the queue`,
      deadline === null
        ? 'without a deadline'
        : `due in ${(Number(deadline) - 1000 * seconds - micros / 1000).toFixed(0)} ms`,
      listening.has(owner) ? 'listens' : 'does not listen',
      called === undefined ? 'never called' : `last called ${(now() - called).toFixed(0)} ms ago`,
    ]
    lines.push(`  …${owner.slice(-12)}: ${facts.join(', ')}`)
  }
  return [...lines, ...(await framesOf(pid))]
}
