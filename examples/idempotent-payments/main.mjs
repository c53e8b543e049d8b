// Payments that can be retried: each Idempotency-Key of a user pays once. See README.md.
import { randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import { connect } from 'holdfast'
import { fastifyIdempotency, idempotencyRun } from 'holdfast/idempotency'

const client = await connect(process.env.HOLDFAST_URL || 'memory:')
const app = Fastify()

/** Stands for a table of your database, with `UNIQUE (user, key)`. */
const payments = new Map()

/**
 * One transaction: `INSERT … ON CONFLICT DO NOTHING`, then `SELECT`. If a handler runs again, because its process died after this, it finds the payment here.
 */
const book = (user, { key, token }, amount) => {
  const row = JSON.stringify([user, key])
  if (!payments.has(row)) payments.set(row, { id: randomUUID(), user, amount, token: String(token) })
  return payments.get(row)
}

/** Stands for your authentication. */
const userOf = (request) => String(request.headers['x-user'] ?? 'nobody')

const once = fastifyIdempotency({ client, scope: userOf, name: 'payments', required: true })

app.post('/payments', { preHandler: once }, async (request, reply) => {
  const { amount } = request.body ?? {}
  if (!Number.isInteger(amount) || amount < 1) return reply.code(400).send({ error: 'amount must be a whole number' })
  const { id, amount: paid } = book(userOf(request), idempotencyRun(request), amount)
  // Redis had lost the key, so the middleware could not compare the requests.
  if (paid !== amount) return reply.code(422).send({ error: 'the key belongs to another payment' })
  return reply.code(201).header('location', `/payments/${id}`).send({ id, amount })
})

app.get('/payments', (request) => [...payments.values()].filter(({ user }) => user === userOf(request)))

// At the signal: requests under way are answered first. Then the client waits for handlers whose requester has left.
app.addHook('onClose', () => client.close({ drain: 10_000 }))
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void app.close())

const address = await app.listen({ port: Number(process.env.PORT || 8080), host: process.env.HOST || 'localhost' })
console.log(`listening on ${address}`)
