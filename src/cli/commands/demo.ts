import { connect } from '../../index.js'
import { demo } from '../demo/demo.js'
import { parse, UsageError } from '../usage.js'
import { plainText } from '../../plain-text.js'

const HELP = `Usage: holdfast demo [--seconds N] [--plain] [--url URL]

Eight workers share three locks. One crashes while it holds a lock, and one loses
its hold and notices. The demo shows the state of real locks.

  --seconds N  how long the demo runs, 3 to 600 (default 10)
  --plain      print a line for each event, without the live picture (this is also
               the case if the output is not a terminal, or smaller than 80x24)
  --url URL    use this server (default: the engine embedded in this process)

Set NO_COLOR in the environment to turn off colours. Press Ctrl-C to stop.
`

const seconds = (text: string): number => {
  const value = text.trim() === '' ? NaN : Number(text)
  if (value >= 3 && value <= 600) return value
  throw new UsageError(`--seconds must be a number from 3 to 600, not "${plainText(text)}"`)
}

export const run = async (args: readonly string[]): Promise<number> => {
  const { values } = parse({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '10' },
      plain: { type: 'boolean', default: false },
      url: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  return demo({ connect, seconds: seconds(values.seconds), plain: values.plain, url: values.url })
}
