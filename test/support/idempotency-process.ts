import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import fastify from 'fastify'
import { connect } from 'holdfast'
import { fastifyIdempotency, idempotencyRun } from 'holdfast/idempotency'

/** A server whose payments take a time. It writes down each one that it begins, with its token, and says its address. */
const [url = '', takes = '0', file = ''] = process.argv.slice(2)

const client = await connect(url)
const app = fastify()
const preHandler = fastifyIdempotency({ client, scope: () => 'all', lease: 1500 })
app.post('/pay', { preHandler }, async (request, reply) => {
  appendFileSync(file, `${idempotencyRun(request)?.token}\n`)
  await sleep(Number(takes))
  return reply.code(201).send({ by: process.pid })
})
process.stdout.write(`${await app.listen({ port: 0, host: '127.0.0.1' })}\n`)
