import { appendFileSync } from 'node:fs'
import { connect } from 'holdfast'
import { shutdownOn } from 'holdfast/node'
import { runCoordinator } from 'holdfast/node-cron'
import * as newest from 'node-cron'
import * as oldest from 'node-cron44'

// One of several with the same task of node-cron: each second. What happens goes into a file.
const [url = '', file = '', version = '', retry = '0', background = ''] = process.argv.slice(2)

const tell = (...words: readonly unknown[]): void => appendFileSync(file, `${words.join(' ')}\n`)
const client = await connect({ url, label: `${process.pid}` })
const coordinator = runCoordinator(client, { retry: Number(retry) })
const logger = {
  info: () => undefined,
  warn: () => undefined,
  debug: () => undefined,
  error: (message: unknown, error?: unknown) => tell('error', message, error),
}
const cron = version === 'oldest' ? (oldest as unknown as typeof newest) : newest
const work = async (context: newest.TaskContext): Promise<void> => {
  const run = coordinator.runOf(context)
  const fire = context.date.toISOString()
  tell('begin', fire, process.pid, run?.token, run?.attempt)
  await new Promise((resolve) => setTimeout(resolve, 300))
  tell('end', fire, process.pid, run?.token, run?.attempt)
}
const options = { name: 'job', distributed: true, runCoordinator: coordinator, distributedLease: 1500, logger }
const task = cron.schedule('* * * * * *', background === '' ? work : background, options)
shutdownOn(client, ['SIGTERM'], { drain: 5000 })
process.once('SIGTERM', () => void task.destroy())
process.stdout.write('ready\n')
