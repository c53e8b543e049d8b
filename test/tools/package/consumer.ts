// Compiled against the packed tarball, by the oldest and the newest compiler; never run.
import {
  AcquireTimeoutError,
  connect,
  DeadlockError,
  EngineError,
  HoldfastError,
  LockLostError,
  NotOwnerError,
  type AcquireOptions,
  type Hold,
  type Lock,
  type LockState,
  type RateLimiter,
  type Script,
  type Subscription,
  type Topic,
} from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { rateLimit } from 'holdfast/express'
import { rateLimit as rateLimitForHono } from 'holdfast/hono'

const clock = virtualClock(7)
await using client = await connect({ url: 'memory:', clock, watchdog: 30_000, label: 'consumer', logger: undefined })
const other = await connect('redis://localhost:6379')
other.on('lost', (event) => {
  const name: string = event.name
  console.log(name)
})

for (const event of ['lost', 'uncertain', 'error', 'reconnect'] as const)
  other.on(event, (what) => console.log(event, what))
for (const event of ['lost', 'uncertain'] as const) other.on(event, ({ name }) => console.log(event, name))
other.on('reconnect', () => undefined)

const lock: Lock = client.lock('orders')
const patience: number | undefined = undefined
const options: AcquireOptions = {
  wait: patience,
  lease: undefined,
  signal: AbortSignal.abort(),
  owner: client.owner('me'),
}

const hold: Hold = await lock.acquire({ wait: 1000, lease: 5000 })
hold.signal.addEventListener('abort', () => {
  const reason: unknown = hold.signal.reason
  if (reason instanceof LockLostError) console.log(reason.code, reason.target)
})
const left: number = hold.remaining()
await hold.extend(left + 1)
const freed: boolean = await hold.release()

const maybe: Hold | undefined = await lock.tryAcquire(options)
if (maybe !== undefined) {
  await using kept = maybe
  const state: 'held' | 'uncertain' | 'lost' | 'released' | 'detached' = kept.state
  console.log(state)
}

const result: number = await lock.using(async ({ signal }) => (signal.aborted ? 0 : 1))
const text: string = await lock.using({ wait: 5 }, () => 'done')

const me = client.owner()
const owned = lock.for(me)
await owned.lock(5000)
const had: boolean = await owned.tryLock(1000, -1)
await owned.unlock()
const count: number = await owned.holdCount()

const seen: LockState = await lock.inspect()
const holders: readonly { readonly owner: string; readonly count: number }[] = seen.holders

const limiter: RateLimiter = client.rateLimiter('mail')
await limiter.trySetRate({ permits: 3, interval: 1000, scope: 'client' })
const { allowed, remaining, retryAfter }: { allowed: boolean; remaining: number; retryAfter: number } =
  await limiter.tryAcquire({ permits: 2, wait: 5 })
type Next = (error?: unknown) => void
export const hook: (request: { ip: string; headers: { host?: string } }, response: never, next: Next) => void =
  rateLimit({
    client,
    permits: 1,
    interval: 1,
  })
const middleware = rateLimitForHono({ client, permits: 1, interval: 1, key: () => 'all' })

const ticket: string = await (await lock.acquire()).detach()
const adopted: Hold = await client.adopt(ticket)

try {
  await lock.acquire({ wait: 0 })
} catch (error) {
  if (error instanceof AcquireTimeoutError || error instanceof DeadlockError || error instanceof NotOwnerError)
    console.log(error.code)
  else if (error instanceof EngineError && error.code === 'NOSCRIPT') console.log(error.cause)
  else if (error instanceof HoldfastError) console.log(error.message)
}

const script: Script = client.script('return 1', { codec: 'string', readOnly: true })
const plain: unknown = await script.run()
const yes: boolean = await script.run({ returns: 'boolean' })
const whole: number | undefined = await script.run({ keys: ['k'], args: [1, 'a'], returns: 'integer' })
const status: string | undefined = await client.scripts.run(script.sha, { returns: 'status' })
const list: unknown[] = await script.run({ returns: 'list' })
const value: unknown = await script.run({ returns: 'value', keys: undefined })
// @ts-expect-error what may be nil is not a number for sure
const sure: number = await script.run({ returns: 'integer' })
// @ts-expect-error Redisson's own names are not these
await script.run({ returns: 'LONG' })

const topic: Topic<{ id: number }> = client.topic('orders', { codec: 'jackson', sharded: false })
const told: number = await topic.publish({ id: 1 })
await using subscription: Subscription = await topic.subscribe((order, channel) =>
  console.log(order.id + 1, channel.length),
)
subscription.on('gap', () => undefined)
for await (const order of topic.messages({ buffer: 10 })) console.log(order.id)
for await (const { channel, message } of client.patternTopic<string>('o*').messages())
  console.log(channel, message.length)
// @ts-expect-error a message of another type
await topic.publish('one')
console.log(plain, yes, whole, status, list, value, sure, told)

await clock.advance(3_600_000)
const now: number = clock.now()
await client.close({ release: false })

// @ts-expect-error a lock needs a name
client.lock()
// @ts-expect-error durations are numbers
await lock.acquire({ wait: '1s' })
// @ts-expect-error an owner is made by `client.owner()`
await lock.acquire({ owner: 7 })

console.log(freed, result, text, had, count, holders, adopted, now, allowed, remaining, retryAfter, hook, middleware)
