// A shop: one payment of an order at a time, whichever process gets the request. Start two of it, with different PORTs.
import Fastify from 'fastify'
import { AcquireTimeoutError } from 'holdfast'
import { holdfast } from 'holdfast/fastify'

const app = Fastify({ logger: process.env.LOG === '1' })
await app.register(holdfast, { connect: process.env.HOLDFAST_URL ?? 'redis://localhost:6379' })

const paid = new Map()
const charge = async (id, signal) => {
  const before = paid.get(id) ?? 0
  await new Promise((resolve) => setTimeout(resolve, 20))
  signal.throwIfAborted()
  paid.set(id, before + 1)
  return before + 1
}

app.post('/orders/:id', async (request) => {
  const hold = await request.lock(`order:${request.params.id}`, { wait: 10_000 })
  return { by: process.pid, payments: await charge(request.params.id, hold.signal) }
})

app.post('/reports', async (request) => {
  await request.lock('report', { wait: 0 })
  await new Promise((resolve) => setTimeout(resolve, Number(request.query.ms ?? 1000)))
  return 'written\n'
})

app.setErrorHandler((error, _request, reply) => {
  if (error instanceof AcquireTimeoutError) return reply.code(409).send({ error: 'another request does that' })
  return reply.send(error)
})

// Fastify answers the requests that it has; then the client releases what is left, and closes.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void app.close())
console.log(await app.listen({ port: Number(process.env.PORT ?? 8080), host: process.env.HOST ?? 'localhost' }))
