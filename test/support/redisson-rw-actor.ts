import type { Redis } from 'ioredis'

/** KEYS: lock. ARGV: lease, owner, prefix of its levels. */
const READ = `
local lock, lease, owner = KEYS[1], tonumber(ARGV[1]), ARGV[2]
local mode = redis.call('hget', lock, 'mode')
if mode == 'write' and redis.call('hexists', lock, owner .. ':write') == 0 then return redis.call('pttl', lock) end
if not mode then redis.call('hset', lock, 'mode', 'read') end
local level = redis.call('hincrby', lock, owner, 1)
redis.call('set', ARGV[3] .. owner .. ':rwlock_timeout:' .. level, 1, 'px', lease)
redis.call('pexpire', lock, math.max(redis.call('pttl', lock), lease))
return nil`

/** ARGV: lease, owner, prefix. 1: renewed; 0: not its own. */
const RENEW_READ = `
local lock, lease, owner = KEYS[1], ARGV[1], ARGV[2]
local count = redis.call('hget', lock, owner)
if not count then return 0 end
for level = 1, tonumber(count) do redis.call('pexpire', ARGV[3] .. owner .. ':rwlock_timeout:' .. level, lease) end
redis.call('pexpire', lock, lease)
return 1`

/** ARGV: owner, prefix, channel. 1: freed; 0: others go on, or other levels; nil: not its own. */
const UNREAD = `
local lock, owner = KEYS[1], ARGV[1]
if redis.call('hexists', lock, owner) == 0 then return nil end
local count = redis.call('hincrby', lock, owner, -1)
if count == 0 then redis.call('hdel', lock, owner) end
redis.call('del', ARGV[2] .. owner .. ':rwlock_timeout:' .. (count + 1))
if redis.call('hlen', lock) > 1 then
  local longest = -3
  for _, field in ipairs(redis.call('hkeys', lock)) do
    for level = tonumber(redis.call('hget', lock, field)) or 0, 1, -1 do
      longest = math.max(longest, redis.call('pttl', ARGV[2] .. field .. ':rwlock_timeout:' .. level))
    end
  end
  if longest > 0 then redis.call('pexpire', lock, longest) return 0 end
  if redis.call('hget', lock, 'mode') == 'write' then return 0 end
end
redis.call('del', lock)
redis.call('publish', ARGV[3], 0)
return 1`

/** ARGV: lease, owner. */
const WRITE = `
local lock, lease, owner = KEYS[1], tonumber(ARGV[1]), ARGV[2] .. ':write'
local mode = redis.call('hget', lock, 'mode')
if mode and redis.call('hexists', lock, owner) == 0 then return redis.call('pttl', lock) end
redis.call('hset', lock, 'mode', 'write')
redis.call('hincrby', lock, owner, 1)
redis.call('pexpire', lock, mode and redis.call('pttl', lock) + lease or lease)
return nil`

/** ARGV: owner, channel. */
const UNWRITE = `
local lock, owner = KEYS[1], ARGV[1] .. ':write'
if redis.call('hget', lock, 'mode') ~= 'write' or redis.call('hexists', lock, owner) == 0 then return nil end
if redis.call('hincrby', lock, owner, -1) > 0 then return 0 end
redis.call('hdel', lock, owner)
if redis.call('hlen', lock) > 1 then
  redis.call('hset', lock, 'mode', 'read')
else
  redis.call('del', lock)
  redis.call('publish', ARGV[2], 1)
end
return 1`

/** Does to a lock what a thread of Redisson does with its read-write lock, command by command. */
export class RedissonReadWriteActor {
  readonly #redis: Redis
  readonly #name: string
  readonly #companion: string
  readonly owner = `${crypto.randomUUID()}:1`

  constructor(redis: Redis, name: string) {
    this.#redis = redis
    this.#name = name
    this.#companion = name.includes('{') ? name : `{${name}}`
  }

  #run(script: string, ...args: (string | number)[]): Promise<number | null> {
    return this.#redis.eval(script, 1, this.#name, ...args) as Promise<number | null>
  }

  get #channel(): string {
    return `redisson_rwlock:${this.#companion}`
  }

  /** `null` when it was had, else the time left of whoever has it. */
  read(lease = 30_000): Promise<number | null> {
    return this.#run(READ, lease, this.owner, `${this.#companion}:`)
  }

  /** The key gets the same lease, also where others have more. */
  renewRead(lease = 30_000): Promise<number | null> {
    return this.#run(RENEW_READ, lease, this.owner, `${this.#companion}:`)
  }

  unread(): Promise<number | null> {
    return this.#run(UNREAD, this.owner, `${this.#companion}:`, this.#channel)
  }

  write(lease = 30_000): Promise<number | null> {
    return this.#run(WRITE, lease, this.owner)
  }

  unwrite(): Promise<number | null> {
    return this.#run(UNWRITE, this.owner, this.#channel)
  }
}
