import { once } from 'node:events'
import type { Client } from '../../api/client.js'
import type { LockEvent } from '../../api/watching.js'
import type { Page } from '../command.js'
import { CONNECTION, connectionOf, withClient } from '../connection.js'
import { eventJson, eventLine } from '../locks/event.js'
import { KIND, kindOf } from '../locks/listed-kinds.js'
import { OpeningLines } from '../locks/opening-lines.js'
import { Interruption } from '../interruption.js'
import { say } from '../say.js'
import { cutTo } from '../text/width.js'
import { asUsage, parse, UsageError } from '../usage-error.js'

const OPTIONS = {
  json: {
    type: 'boolean',
    default: false,
    help: 'one JSON object a line for each event; so it is if the output is no terminal',
  },
  text: { type: 'boolean', default: false, help: 'readable lines, also if the output is no terminal' },
  'since-start': {
    type: 'boolean',
    default: false,
    help: 'only what happens from now on: leaves out the holders and waiters that are there already',
  },
  ...KIND,
  ...CONNECTION,
} as const

export const page: Page = {
  usage: ['watch [NAME|PATTERN] [options]'],
  about:
    "Shows what happens to one lock, or to all locks whose names match PATTERN (default: all): which calls wait, which owner is granted the lock, which call gives up, and how each hold ends. In PATTERN, * is any text, ? one character, [a-c] one of these, and \\ takes away the meaning of the next one.\n\nIt asks the server a few times a second, and shows the differences. A hold that begins and ends between two looks is not seen. A pattern finds locks that holdfast's clients have held or waited for longer than a second; a name also finds those of Redisson, at once.",
  options: OPTIONS,
  more: `Events:
  waiting    a call stands in the line
  granted    an owner holds the lock
  gave up    a place left the line
  left       a place left the line: its call gave up, or was granted the lock
             and released it between two looks, or the place was removed because
             its process had died (gave up in JSON, not certain)
  released   its owner released the lock
  expired    its lease ended
  forced     somebody released it by force
  deleted    somebody removed it from the server
"perhaps": what the server shows does not prove that it was this.
A name is looked at four times a second, a pattern once: watch the name while
you free a lock.

Examples:
  holdfast watch nightly-report
  holdfast watch 'invoice:*' --since-start
  holdfast watch --json | jq -r 'select(.type == "expired").name'

Ctrl-C ends it, with the exit code 130. Others are 64 wrong usage, 69 no server,
77 not permitted, 78 wrong configuration.
`,
}

/** A name with one of these signs is a pattern. */
const PATTERN = /[*?[\\]/

const whatOf = (args: readonly string[]): string | { pattern: string } => {
  const [what = '*', ...more] = args
  if (more.length > 0)
    throw new UsageError('watch takes one name or pattern: quote it, so that the shell does not expand it')
  if (what === '') throw new UsageError('the name must not be empty')
  return PATTERN.test(what) ? { pattern: what } : what
}

const lineOf = (event: LockEvent, json: boolean): string =>
  json ? eventJson(event) : cutTo(eventLine(event), process.stdout.columns || Infinity)

export const run = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = parse({ args: [...args], allowPositionals: true, options: OPTIONS })
  const what = whatOf(positionals)
  const kind = kindOf(values.kind)
  if (values.json && values.text) throw new UsageError('--json and --text exclude each other')
  return withClient(connectionOf(values, process.env), async (client) => {
    // Before this, a signal simply ends the process.
    const interruption = new Interruption()
    const opening = new OpeningLines()
    try {
      const events = eventsOf(client, what, { kind, signal: interruption.signal })
      if (process.stderr.isTTY) say('watching; Ctrl-C ends it')
      for await (const event of events) {
        if (values['since-start'] && event.initial === true) continue
        if (process.stdout.isTTY && !values.json && opening.hides(event.initial === true)) continue
        await write(`${lineOf(event, values.json || !(values.text || process.stdout.isTTY))}\n`, interruption.signal)
      }
      return interruption.code
    } finally {
      opening.end()
      interruption.end()
    }
  })
}

/** Ends with the interruption, instead of throwing it. */
async function* eventsOf(
  client: Client,
  what: string | { pattern: string },
  options: { kind: ReturnType<typeof kindOf>; signal: AbortSignal },
): AsyncGenerator<LockEvent, undefined> {
  const events = asUsage(() => client.watch(what, options))
  try {
    yield* events
  } catch (error) {
    if (!options.signal.aborted) throw error
  }
  return undefined
}

/** If the reader of the output is slow, the loop is, and events are merged instead of kept. */
const write = async (text: string, signal: AbortSignal): Promise<void> => {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain', { signal }).catch(() => undefined)
}
