import { quoted } from '../../plain-text.js'
import type { Client } from '../../api/client.js'
import type { Page } from '../command.js'
import { CONNECTION, connectionOf, sameServer, withClient } from '../connection.js'
import { described } from '../locks/describe.js'
import { locksAt } from '../locks/find.js'
import { jsonLine } from '../locks/json.js'
import { ANY_KIND, anyKindOf } from '../locks/listed-kinds.js'
import { signsOf } from '../locks/signs.js'
import { say } from '../say.js'
import { shellWord } from '../text/shell-word.js'
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

/** How many similar names are shown. */
const SIMILAR = 5

/** What else the user may have meant. Nothing if the list may not be read. */
const hintFor = async (client: Client, name: string): Promise<string> => {
  if (/[*?]/.test(name)) return `; show takes one name: for a pattern, use holdfast ls ${shellWord(name)}`
  const similar: string[] = []
  try {
    for await (const lock of client.list({ pattern: `*${name.replaceAll(/[*?[\]\\]/g, String.raw`\$&`)}*` }))
      if (similar.push(quoted(lock.name)) > SIMILAR) break
  } catch {
    return ''
  }
  const more = similar.length > SIMILAR ? ', …' : ''
  return similar.length === 0 ? '' : `; names that contain it: ${similar.slice(0, SIMILAR).join(', ')}${more}`
}

export const run = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = parse({ args: [...args], allowPositionals: true, options: OPTIONS })
  const name = nameIn(positionals)
  const kind = anyKindOf(values.kind)
  return withClient(connectionOf(values, process.env), async (client) => {
    const now = await serverClock(client)
    const found = await locksAt(client, name, kind)
    if (found.length === 0) {
      say(`no lock ${quoted(name)} is held or waited for${await hintFor(client, name)}`)
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
