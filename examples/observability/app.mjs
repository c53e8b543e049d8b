// A shop in Express. Its /metrics show what its locks do. See README.md.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import express from 'express'
import { connect } from 'holdfast'
import { instrument } from 'holdfast/prometheus'
import { Registry } from 'prom-client'
import { Books } from './books.mjs'

// Before `connect`: only calls that begin after this are measured. With `kinds`, their series start at 0, so that the first event counts, too.
const register = new Registry()
const stop = instrument({ register, kinds: ['lock', 'rateLimiter'] })

const client = await connect({
  url: process.env.HOLDFAST_URL || 'redis://localhost:6379',
  label: 'shop',
  watchdog: 6000,
  deadlocks: 'break',
})
const books = new Books(client)
const searches = client.rateLimiter('shop:searches')
await searches.trySetRate({ permits: 5, interval: 1000 })

const app = express()

/** One product, one buyer at a time. */
app.post('/checkout/:product', async ({ params }, response) => {
  await books.using(client.lock(`shop:product:${params.product}`), { wait: 1000 }, () => sleep(5 + Math.random() * 10))
  response.send('sold\n')
})

/** A report that takes long; one at a time. */
app.post('/report/:seconds', async ({ params }, response) => {
  await books.using(client.lock('shop:report'), { wait: 60_000 }, ({ signal }) =>
    sleep(Number(params.seconds) * 1000, undefined, { signal }),
  )
  response.send('written\n')
})

/** Wrong on purpose: two transfers in opposite directions wait for each other. Locking the smaller account first would prevent it. */
app.post('/transfer/:from/:to', async ({ params }, response) => {
  const lockOf = (account) => client.lock(`shop:account:${account}`)
  await books.using(lockOf(params.from), { wait: 30_000 }, async () => {
    await sleep(200)
    await books.using(lockOf(params.to), { wait: 30_000 }, () => sleep(5))
  })
  response.send('transferred\n')
})

/** At most 5 a second, from all processes together. */
app.get('/search', async (_request, response) => {
  const allowed = await books.decide(searches)
  response.status(allowed ? 200 : 429).send(allowed ? 'found\n' : 'too many\n')
})

app.get('/metrics', async (_request, response) => {
  response.type(register.contentType).send(await register.metrics())
})

/** What the app counted itself, to compare. Yours does not need this. */
app.get('/books', (_request, response) => response.json(books))

app.use((error, _request, response, _next) => response.status(503).send(`${error.name}\n`))

const server = app.listen(Number(process.env.PORT || 8080), '127.0.0.1')
await once(server, 'listening')
console.log(`listening on http://127.0.0.1:${server.address().port}`)

const close = async () => {
  server.close()
  server.closeAllConnections()
  await client.close()
  stop()
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void close())
