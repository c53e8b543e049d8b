import { connect } from '../../index.js'
import type { Page } from '../command.js'
import { demo } from '../demo/demo.js'
import { parse, UsageError } from '../usage-error.js'
import { plainText } from '../../plain-text.js'

const OPTIONS = {
  seconds: {
    type: 'string',
    value: 'N',
    help: 'how long the demo runs, 3 to 600 (default 10, with --dashboard 120)',
  },
  dashboard: {
    type: 'boolean',
    default: false,
    help: 'show the same in your browser, on the dashboard; the command prints the address',
  },
  plain: {
    type: 'boolean',
    default: false,
    help: 'print a line for each event, without the live picture (this is also the case if the output is not a terminal, or smaller than 80x24)',
  },
  url: { type: 'string', value: 'URL', help: 'use this server (default: the engine embedded in this process)' },
} as const

export const page: Page = {
  usage: ['demo [--seconds N] [--dashboard] [--plain] [--url URL]'],
  about:
    'Eight workers share three locks. One crashes while it holds a lock, and one loses its hold and notices. The demo shows the state of real locks.',
  options: OPTIONS,
  more: 'Set NO_COLOR in the environment to turn off colours. Press Ctrl-C to stop.\n',
}

const seconds = (text: string): number => {
  const value = text.trim() === '' ? NaN : Number(text)
  if (value >= 3 && value <= 600) return value
  throw new UsageError(`--seconds must be a number from 3 to 600, not "${plainText(text)}"`)
}

export const run = async (args: readonly string[]): Promise<number> => {
  const { values } = parse({ args: [...args], options: OPTIONS })
  const { dashboard, plain, url } = values
  return demo({ connect, seconds: seconds(values.seconds ?? (dashboard ? '120' : '10')), plain, url, dashboard })
}
