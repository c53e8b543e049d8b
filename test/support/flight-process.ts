import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'holdfast'

/** One of several whose callers all want the same value at once. It says how many had it, and when the last of them did. */
const [url = '', key = '', callers = '0', begin = '0', takes = '0', file = ''] = process.argv.slice(2)

const client = await connect(url)
const flight = client.flight('reports')
await sleep(Math.max(0, Number(begin) - Date.now()))
const results = await Promise.all(
  Array.from({ length: Number(callers) }, () =>
    flight.run(key, { lease: 2000 }, async ({ token }) => {
      appendFileSync(file, `began ${token} ${process.pid}\n`)
      await sleep(Number(takes))
      appendFileSync(file, `ended ${token} ${Date.now()}\n`)
      return { token: String(token), text: 'x'.repeat(1000) }
    }),
  ),
)
const had = Date.now()
const tokens = [...new Set(results.map(({ value }) => value.token))]
const computed = results.filter(({ shared }) => !shared).length
await client.close()
process.stdout.write(JSON.stringify({ had, tokens, computed, count: results.length }))
