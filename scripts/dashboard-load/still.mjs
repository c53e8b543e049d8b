// @ts-check
/** Locks, waiters and hand-overs as clients would write them, without any client: so a small machine can show what reading them costs. */
import { randomUUID } from 'node:crypto'
import { clearInterval, setInterval } from 'node:timers'
import { Redis } from 'ioredis'

const CLIENTS = 5
/** ms. Longer than a slow machine takes for anything: nobody else renews. */
const LEASE = 600_000
const RENEWALS = 10

/** Makes the first place of these lines the holder; who has held it joins the end. The index follows, as clients publish it. */
const HAND_OVER = `
local now = tonumber(ARGV[1])
for i = 2, #ARGV do
  local lock, line, due = ARGV[i], 'holdfast_line:{' .. ARGV[i] .. '}', 'holdfast_line_due:{' .. ARGV[i] .. '}'
  local old = redis.call('HKEYS', lock)[1]
  local new = redis.call('LPOP', line)
  if old and new then
    redis.call('ZREM', due, new)
    redis.call('DEL', lock)
    redis.call('HSET', lock, new, 1)
    redis.call('PEXPIRE', lock, ${LEASE})
    local ours, number = string.match(new, '^(.*):(%d+)$')
    redis.call('HSET', 'holdfast:client:' .. ours .. ':locks', 'lock ' .. lock, '{"h":[' .. number .. ',' .. now .. ']}')
    local theirs, last = string.match(old, '^(.*):(%d+)$')
    local place = last + 1
    redis.call('RPUSH', line, theirs .. ':' .. place)
    redis.call('ZADD', due, now + 60000, theirs .. ':' .. place)
    redis.call('HSET', 'holdfast:client:' .. theirs .. ':locks', 'lock ' .. lock, '{"w":[' .. place .. ',' .. now .. ']}')
  end
end`

/** Waiters have asked: their deadlines move. With a lease, holds are renewed, too. */
const ALIVE = `
local now, lease = tonumber(ARGV[1]), tonumber(ARGV[2])
for i = 3, #ARGV do
  local due = 'holdfast_line_due:{' .. ARGV[i] .. '}'
  for _, owner in ipairs(redis.call('ZRANGE', due, 0, -1)) do redis.call('ZADD', due, now + 60000, owner) end
  if lease > 0 then redis.call('PEXPIRE', ARGV[i], lease) end
end`

/** @template T @param {readonly T[]} all @param {number} most */
const partsOf = (all, most) =>
  Array.from({ length: Math.ceil(all.length / most) }, (_, i) => all.slice(i * most, (i + 1) * most))

/** @param {import('ioredis').Redis} redis @param {readonly string[]} names @param {number} perLock @param {readonly string[]} clients */
const fill = async (redis, names, perLock, clients) => {
  const now = Date.now()
  for (const part of partsOf([...names.entries()], 500)) {
    const pipeline = redis.pipeline()
    for (const [i, name] of part) {
      const clientAt = (/** @type {number} */ n) => clients[(i + n) % CLIENTS] ?? ''
      const number = i * 1000
      pipeline.hset(name, `${clientAt(0)}:${number}`, 1).pexpire(name, LEASE)
      pipeline.hset(`holdfast:client:${clientAt(0)}:locks`, `lock ${name}`, `{"h":[${number},${now}]}`)
      for (let n = 1; n <= perLock; n += 1) {
        pipeline.rpush(`holdfast_line:{${name}}`, `${clientAt(n)}:${number}`)
        pipeline.zadd(`holdfast_line_due:{${name}}`, now + 60_000, `${clientAt(n)}:${number}`)
        pipeline.hset(`holdfast:client:${clientAt(n)}:locks`, `lock ${name}`, `{"w":[${number},${now}]}`)
      }
    }
    await pipeline.exec()
  }
  for (const [i, id] of clients.entries()) {
    await redis.zadd('holdfast:client:register', now + 3_600_000, id)
    await redis.set(`holdfast:client:${id}`, JSON.stringify({ label: `worker-${i}`, lease: LEASE }))
  }
}

/** Fills the server, and hands locks over until the returned function is called. @param {{ url: string, locks: number, waiters: number, rate: number }} load */
export const still = async ({ url, locks, waiters, rate }) => {
  const redis = new Redis(url)
  const clients = Array.from({ length: CLIENTS }, () => randomUUID())
  const names = Array.from({ length: locks }, (_, i) => `order:${i}`)
  await fill(redis, names, Math.min(CLIENTS - 1, Math.round(waiters / locks)), clients)
  let [next, second, handed] = [0, 0, 0]
  const some = (/** @type {number} */ count) => Array.from({ length: count }, () => names[next++ % locks] ?? '')
  const tick = async () => {
    second += 1
    await redis.eval(HAND_OVER, 0, Date.now(), ...some(rate))
    handed += rate
    for (const [i, part] of partsOf(names, Math.ceil(locks / RENEWALS)).entries())
      await redis.eval(ALIVE, 0, Date.now(), i === second % RENEWALS ? LEASE : 0, ...part)
  }
  const timer = rate > 0 ? setInterval(() => void tick().catch(() => undefined), 1000) : undefined
  return {
    count: () => handed,
    hand: async (/** @type {number} */ count) => {
      await redis.eval(HAND_OVER, 0, Date.now(), ...some(count))
      for (const [i, part] of partsOf(names, Math.ceil(locks / RENEWALS)).entries())
        await redis.eval(ALIVE, 0, Date.now(), i % 2 === 0 ? LEASE : 0, ...part)
    },
    stop: () => {
      clearInterval(timer)
      redis.disconnect()
    },
  }
}
