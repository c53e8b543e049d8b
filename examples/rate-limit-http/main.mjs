// Two limits over HTTP: one by a script of one's own, one by a rate limiter. See README.md.
import Fastify from 'fastify'
import { connect } from 'holdfast'
import { rateLimit } from 'holdfast/fastify'

const SECONDS = 10
const MOST = 3

/** Counts from the first hit on. A counter without an expiry, whoever took it away, would refuse for good: it gets a new one. */
const HIT = `
local hits = redis.call('INCR', KEYS[1])
if hits == 1 or redis.call('TTL', KEYS[1]) < 0 then
  redis.call('EXPIRE', KEYS[1], ARGV[1])
end
return hits > tonumber(ARGV[2]) and 0 or 1`

const client = await connect(process.env.HOLDFAST_URL || 'memory:')
const app = Fastify()
const hit = client.script(HIT)

/** As text; undefined when it is no integer of 32 bits. */
const integer = (text) => {
  const number = /^[+-]?\d+$/.test(text) ? Number(text) : NaN
  return number === (number | 0) ? String(number) : undefined
}

app.get('/lua/:id', async ({ params }, reply) => {
  const id = integer(params.id)
  reply.type('text/plain')
  if (id === undefined) return reply.code(400).send('the id must be an integer')
  return String(await hit.run({ keys: [`LIMIT:${id}`], args: [SECONDS, MOST], returns: 'integer' }))
})

app.get('/limited', { onRequest: rateLimit({ client, permits: 5, interval: 10_000, name: 'limited' }) }, () => 'in')

app.addHook('onClose', () => client.close())
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void app.close())

const address = await app.listen({ port: Number(process.env.PORT || 8080), host: process.env.HOST || 'localhost' })
console.log(`listening on ${address}`)
