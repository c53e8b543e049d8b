import type { Page } from '../command.js'
import { CONNECTION, connectionOf, sameServer, withClient } from '../connection.js'
import { described } from '../locks/describe.js'
import { locksAt } from '../locks/find.js'
import { jsonLine } from '../locks/json.js'
import { ANY_KIND, anyKindOf } from '../locks/listed-kinds.js'
import { notFound } from '../locks/not-found.js'
import { signsOf } from '../locks/signs.js'
import { say } from '../say.js'
import { serverClock } from '../server-clock.js'
import { nameIn, parse } from '../usage-error.js'

const OPTIONS = {
  json: { type: 'boolean', default: false, help: 'one JSON object a line for each kind, as ls prints it' },
  ...ANY_KIND,
  ...CONNECTION,
} as const

export const page: Page = {
  usage: ['show NAME [options]'],
  about:
    'Shows who holds the lock and for how long, what is left of the lease, what shows that the holder is alive, and the line in its order; if the holder seems to be dead, also the command that releases the lock. Finds locks of Redisson as well. If locks of several kinds have this name, it shows each of them.',
  options: OPTIONS,
  more: `The keys of a keyed lock are found when one of them has been held or waited for
longer than a second.

Example:
  holdfast show nightly-report

The exit code is 0 if the lock is held or waited for, 1 if it is not; 64 wrong
usage, 69 no server, 77 not permitted, 78 wrong configuration.
`,
}

export const run = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = parse({ args: [...args], allowPositionals: true, options: OPTIONS })
  const name = nameIn(positionals)
  const kind = anyKindOf(values.kind)
  return withClient(connectionOf(values, process.env), async (client) => {
    const now = await serverClock(client)
    const found = await locksAt(client, name, kind)
    if (found.length === 0) {
      say(await notFound(client, name, kind, 'show'))
      return 1
    }
    const signs = values.json ? undefined : await signsOf(client, found)
    const shown = found.map((lock) =>
      signs === undefined
        ? jsonLine(lock, now(), true)
        : described(lock, now(), sameServer(values), { signs }).join('\n'),
    )
    process.stdout.write(`${shown.join(values.json ? '\n' : '\n\n')}\n`)
    return 0
  })
}
