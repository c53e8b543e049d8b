import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'holdfast'

/**
 * One of several whose callers all want the same value at once. It says how many had it, and when the last of them did. To begin when it is told to: `told`, and then
 * the time as a line of its input, once it has said that it is ready.
 */
const [url = '', key = '', callers = '0', begin = '0', takes = '0', file = ''] = process.argv.slice(2)

const client = await connect(url)
const flight = client.flight('reports')
const told = async (): Promise<string> => {
  process.stdout.write('ready\n')
  const [line] = (await once(process.stdin, 'data')) as [Buffer]
  process.stdin.destroy()
  return line.toString()
}
const at = Number(begin === 'told' ? await told() : begin)
await sleep(Math.max(0, at - Date.now()))
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
