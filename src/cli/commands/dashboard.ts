import type { Client } from '../../api/client.js'
import { quoted } from '../../plain-text.js'
import type { Page } from '../command.js'
import { CONNECTION, connectionOf, shownServer, withClient } from '../connection.js'
import { LocalDashboard } from '../dashboard/local.js'
import { Interruption } from '../interruption.js'
import { say } from '../say.js'
import { parse, UsageError } from '../usage-error.js'

const OPTIONS = {
  port: {
    type: 'string',
    short: 'p',
    default: '7420',
    value: 'PORT',
    help: 'the port; 0: any free one (default 7420)',
  },
  'read-only': { type: 'boolean', default: false, help: 'nobody can act on a lock' },
  ...CONNECTION,
} as const

export const page: Page = {
  usage: ['dashboard [options]'],
  about:
    'Shows the locks in your browser, live: who holds what, which call waits for which, and what is wrong. It listens on 127.0.0.1 only, and prints an address with a token: nobody gets in without it. It reads once a second while a page is open. On the page of a lock you can ask its holder to release it, extend the lease, or release it: you type its name, and the server compares the owner.',
  options: OPTIONS,
  more: `Examples:
  holdfast dashboard
  holdfast dashboard --port 0 --read-only
  ssh -L 7420:127.0.0.1:7420 ops    # then open the printed address here

It runs until you press Ctrl-C; the exit code is then 130. 1 if the port is
taken; 64 wrong usage, 69 no server, 77 not permitted, 78 wrong configuration.
`,
}

const portOf = (text: string): number => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN
  if (port <= 65_535) return port
  throw new UsageError(`--port must be a number from 0 to 65535, not ${quoted(text)}`)
}

export const run = async (args: readonly string[]): Promise<number> => {
  const { values } = parse({ args: [...args], options: OPTIONS })
  const port = portOf(values.port)
  const title = shownServer(values, process.env)
  const work = async (client: Client): Promise<number> => {
    const local = new LocalDashboard({ client, title, leave: values['read-only'] ? 'read' : 'act' })
    const interruption = new Interruption()
    try {
      const address = await local.listen(port)
      if (address === undefined) {
        say(`port ${port} is taken, or not allowed; choose another with --port`)
        return 1
      }
      process.stdout.write(`${address}\n`)
      await new Promise<void>((resolve) =>
        interruption.signal.addEventListener('abort', () => resolve(), { once: true }),
      )
      return interruption.code
    } finally {
      interruption.end()
      await local.close()
    }
  }
  // The page shows what is wrong. Others can read who released a lock by force.
  return withClient(connectionOf(values, process.env), work, {
    presence: !values['read-only'],
    onError: () => undefined,
  })
}
