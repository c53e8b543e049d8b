import { appendFileSync } from 'node:fs'
import { connect } from 'holdfast'
import { shutdownOn } from 'holdfast/node'
import { schedule } from 'holdfast/schedule'

// One of several that have the same schedule: each second.
const [url = '', name = '', file = ''] = process.argv.slice(2)

const client = await connect({ url, label: `${process.pid}` })
shutdownOn(client, ['SIGTERM'], { drain: 5000 })
const onMissed = (slots: readonly Date[]): void => {
  for (const slot of slots) appendFileSync(file, `missed ${slot.toISOString()}\n`)
}
await schedule(client, name, { cron: '* * * * * *', retry: 1, lease: 1500, grace: 20_000, onMissed }, async (run) => {
  appendFileSync(file, `begin ${run.due.toISOString()} ${run.attempt}\n`)
  await new Promise((resolve) => setTimeout(resolve, 300))
  run.signal.throwIfAborted()
  appendFileSync(file, `end ${run.due.toISOString()} ${run.attempt}\n`)
})
process.stdout.write('ready\n')
