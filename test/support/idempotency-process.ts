import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'holdfast'
import { frameworks } from '../http/idempotency/frameworks.js'

/** A server whose payments take a time. It writes down each one that it begins, with its token, and says its address. */
const [url = '', framework = '', takes = '0', file = ''] = process.argv.slice(2)

const client = await connect(url)
const chosen = frameworks.find(({ name }) => name === framework)
if (chosen === undefined) throw new Error(`no framework '${framework}'`)
const served = await chosen.serve({ client, name: framework, scope: () => 'all', lease: 1500 }, async ({ run }) => {
  appendFileSync(file, `${run?.token}\n`)
  await sleep(Number(takes))
  return { status: 201, fields: [['content-type', 'application/json']], body: JSON.stringify({ by: process.pid }) }
})
process.stdout.write(`${served.url}\n`)
