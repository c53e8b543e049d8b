// Compiled against the packed tarball and the frameworks' own types; never run.
import limitFastify from '@fastify/rate-limit'
import express from 'express'
import { rateLimit as limitExpress } from 'express-rate-limit'
import express4 from 'express4'
import fastify, { type FastifyRequest } from 'fastify'
import { type Context, Hono } from 'hono'
import { type Client, connect, type FencedHold, type Hold } from 'holdfast'
import { networkOf, rateLimit as forExpress } from 'holdfast/express'
import forFastifyApps, { holdfast, rateLimit as forFastify } from 'holdfast/fastify'
import { rateLimit as forHono } from 'holdfast/hono'
import {
  expressIdempotency,
  fastifyIdempotency,
  honoIdempotency,
  type IdempotencyRun,
  idempotencyRun,
} from 'holdfast/idempotency'
import { runCoordinator, type RunCoordinator } from 'holdfast/node-cron'
import { schedule, type Schedule } from 'holdfast/schedule'
import { expressRateLimitStore, fastifyRateLimitStore, honoRateLimiterStore } from 'holdfast/stores'
import { rateLimiter as limitHono } from 'hono-rate-limiter'
import cron, { type RunCoordinator as TheirCoordinator } from 'node-cron'
import oldCron from 'node-cron44'

const client = await connect('memory:')
/** What a browser has as `navigator.locks`. */
export const manager: LockManager = client.locks

const limit = { client, permits: 100, interval: 60_000 }

export const nightly: Schedule = await schedule(client, 'nightly', { cron: '0 2 * * *' }, ({ due, token }) => [
  due,
  token,
])

export const coordinator: RunCoordinator = runCoordinator(client, { wait: 1000 })
export const theirs: TheirCoordinator = coordinator
cron.setRunCoordinator(coordinator)
oldCron.setRunCoordinator(coordinator)
const fires = { name: 'nightly', distributed: true, runCoordinator: coordinator }
cron.schedule('0 2 * * *', (context) => coordinator.runOf(context)?.token, fires)
oldCron.schedule('0 2 * * *', (context) => coordinator.runOf(context)?.signal, fires)

const app = express()
app.use(forExpress(limit))
app.get('/a', forExpress(limit), (_q, r) => {
  r.json({ ok: true })
})
app.get('/a/:id', forExpress({ ...limit, key: (r) => String(r.headers['x-api-key'] ?? networkOf(r.ip)) }), (q, r) => {
  const id: string | string[] = q.params.id
  r.json({ id })
})
app.use(forExpress({ ...limit, key: (r) => String(r.headers['x-api-key']) }))
app.use('/b', forExpress({ ...limit, key: async (r) => String(r.headers.host) }), (_q, _r, next) => next())
app.post('/c', forExpress({ ...limit, key: (r: express.Request) => `${r.method} ${r.get('host')}` }), (q, r) => {
  r.send(q.path)
})
express
  .Router()
  .get(
    '/d',
    [forExpress(limit), forExpress({ ...limit, name: 'other' })],
    (_q: express.Request, r: express.Response) => {
      r.sendStatus(204)
    },
  )
const kept = forExpress({ ...limit, key: (r) => String(r.headers['x-api-key']) })
app.get('/e', kept, (_q, r) => {
  r.end()
})
const handler: express.RequestHandler = forExpress(limit)
app.get<{ id: string }, { ok: boolean }, { body: number }>('/f/:id', forExpress(limit), (q, r) => {
  r.json({ ok: q.params.id === String(q.body.body) })
})
app.use(handler)

const old = express4()
old.use(forExpress(limit))
old.get('/a', forExpress(limit), (_q, r) => {
  r.json({ ok: true })
})
old.get('/b/:id', forExpress({ ...limit, key: (r) => String(r.headers['x-api-key'] ?? r.ip) }), (q, r) => {
  const id: string = q.params.id
  r.json({ id })
})
old.use(forExpress({ ...limit, key: (r: express4.Request) => r.method }))

const server = fastify()
server.addHook('onRequest', forFastify(limit))
server.addHook('onRequest', forFastify({ ...limit, key: (r) => String(r.headers['x-api-key'] ?? r.ip) }))
server.addHook('preHandler', forFastify({ ...limit, key: (r: FastifyRequest) => r.routeOptions.url ?? r.ip }))
server.get('/x', { onRequest: forFastify(limit) }, () => 'in')
server.get('/y', { onRequest: forFastify({ ...limit, key: (r) => String(r.headers['x-api-key']) }) }, async () => 'in')
server.get('/z', { onRequest: [forFastify(limit), forFastify({ ...limit, name: 'b' })] }, (_q, r) => r.send('in'))
server.get<{ Params: { id: string }; Querystring: { q: number } }>(
  '/w/:id',
  { preHandler: forFastify(limit) },
  (q) => q.params.id,
)
server.get(
  '/u',
  { onRequest: forFastify({ ...limit, key: (r: FastifyRequest) => r.routeOptions.url ?? r.ip }) },
  () => 'in',
)
server.route({ method: 'GET', url: '/v', onRequest: forFastify(limit), handler: () => 'in' })

await server.register(holdfast, { connect: 'redis://localhost:6379', drain: 1000 })
await server.register(forFastifyApps, { client })
await server.register(import('holdfast/fastify'), { client })
await fastify({ http2: true }).register(holdfast, { client })
export const shared: Client = server.holdfast
server.post<{ Params: { id: string } }>('/orders/:id', async (q) => {
  const hold: Hold = await q.lock(`order:${q.params.id}`, { wait: 1000, kind: 'fairLock' })
  const fenced: FencedHold = await q.lock('fenced', { kind: 'fencedLock', signal: hold.signal })
  await using other = await q.server.holdfast.lock('other').acquire()
  return { token: String(fenced.token), other: other.name }
})

type Env = { Variables: { user: string }; Bindings: { KV: string } }
const hono = new Hono<Env>()
hono.use(forHono({ ...limit, key: (c) => c.req.header('x-api-key') ?? 'nobody' }))
hono.use('/a/*', forHono({ ...limit, key: (c: Context<Env>) => c.get('user') }))
hono.get('/b', forHono({ ...limit, key: (c: Context<Env>) => c.var.user }), (c) => c.json({ user: c.get('user') }))
hono.get('/c/:id', forHono({ ...limit, key: () => 'all' }), (c) => c.text(c.req.param('id')))
new Hono().use(forHono({ ...limit, key: (c) => c.req.header('x') ?? 'nobody' }))
new Hono().use(forHono({ ...limit, key: (c: Context) => c.req.path }))

const keys = { client, ttl: 60_000, required: true }
const pay: express.RequestHandler = (q, r) => {
  const run: IdempotencyRun | undefined = idempotencyRun(q)
  r.json({ token: String(run?.token) })
}
app.post('/pay', express.json(), expressIdempotency({ ...keys, scope: (r) => String(r.headers['x-user']) }), pay)
app.post('/pay/:id', expressIdempotency({ ...keys, scope: (r: express.Request) => r.get('x-user') ?? 'nobody' }), pay)
app.use(expressIdempotency({ ...keys, scope: async () => 'all', fingerprint: (r) => String(r.headers['digest']) }))
old.post('/pay', expressIdempotency({ ...keys, scope: (r) => String(r.headers['x-user']) }), (q, r) => {
  r.json({ token: String(idempotencyRun(q)?.token) })
})
old.use(expressIdempotency({ ...keys, scope: (r: express4.Request) => r.hostname }))
server.post(
  '/pay',
  { preHandler: fastifyIdempotency({ ...keys, scope: (r) => String(r.headers['x-user']) }) },
  (q) => ({
    token: String(idempotencyRun(q)?.token),
  }),
)
server.post<{ Body: { amount: number } }>(
  '/paid',
  { preHandler: [fastifyIdempotency({ ...keys, scope: (r: FastifyRequest) => r.ip })] },
  (q) => q.body.amount,
)
server.addHook('preHandler', fastifyIdempotency({ ...keys, scope: () => 'all' }))
hono.post('/pay', honoIdempotency({ ...keys, scope: (c: Context<Env>) => c.get('user') }), (c) =>
  c.json({ token: String(idempotencyRun(c)?.token) }),
)
hono.use(honoIdempotency({ ...keys, scope: (c) => c.req.header('x-user') ?? 'nobody' }))
new Hono().use(honoIdempotency({ ...keys, scope: (c: Context) => c.req.path }))

app.use(limitExpress({ limit: 100, windowMs: 60_000, store: expressRateLimitStore({ client }) }))
app.use(limitExpress({ limit: () => 5, windowMs: 60_000, store: expressRateLimitStore({ client, permits: 20 }) }))
await server.register(limitFastify, { max: 100, timeWindow: 60_000, store: fastifyRateLimitStore({ client }) })
hono.use(
  limitHono({
    limit: 100,
    windowMs: 60_000,
    keyGenerator: (c) => c.req.header('x-api-key') ?? 'nobody',
    store: honoRateLimiterStore({ client, name: 'api', whenAway: 'open' }),
  }),
)
