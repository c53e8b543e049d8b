import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'holdfast'

// One of several that come for the same slots, each so many ms.
const [url = '', name = '', count = '0', every = '0', first = '0', file = ''] = process.argv.slice(2)

const client = await connect(url)
const slots = client.slots(name)
const begin = Number(first)
const behind = (await slots.now()) - Date.now()
const told: Record<string, number> = {}
for (let i = 0; i < Number(count); i++) {
  const due = begin + i * Number(every)
  await sleep(Math.max(0, due - Date.now() - behind))
  const result = await slots.run(new Date(due), { grace: 60_000 }, ({ slot, token }) => {
    appendFileSync(file, `${slot} ${token} ${process.pid}\n`)
  })
  const outcome = result.outcome === 'skipped' ? `skipped: ${result.reason}` : result.outcome
  told[outcome] = (told[outcome] ?? 0) + 1
  if (outcome === 'skipped: early') i--
}
await client.close()
process.stdout.write(JSON.stringify(told))
