// Draws docs/demo.svg: one moment of the demo as it runs, in the colours of a terminal. Run after a build.
import { writeFile } from 'node:fs/promises'
import { connect } from '../dist/index.js'
import { frame, HEIGHT, WIDTH } from '../dist/cli/demo/frame.js'
import { Inside } from '../dist/cli/demo/inside.js'
import { Stage } from '../dist/cli/demo/stage.js'
import { LOCKS, story, WATCHDOG } from '../dist/cli/demo/story.js'
import { victim } from '../dist/cli/demo/victim.js'
import { Troupe } from '../dist/cli/demo/workers.js'

/** Shortly after the crash, while others wait for the lease to run out. */
const MOMENT = 2900
const END = 10_000
const CELL = { width: 8.4, height: 18 }
const PADDING = 14
const COLOURS = {
  good: '#3fb950',
  bad: '#f85149',
  lost: '#d2a8ff',
  accent: '#39c5cf',
  dim: '#8b949e',
  strong: '#f0f6fc',
}

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const span = ({ text, style }) => {
  const bold = style === 'strong' || style === 'bad' || style === 'lost' ? ' font-weight="bold"' : ''
  return `<tspan fill="${COLOURS[style] ?? '#c9d1d9'}"${bold}>${escape(text)}</tspan>`
}

const line = (row, index) => {
  const width = row.reduce((sum, { text }) => sum + text.length, 0) * CELL.width
  const place = `x="${PADDING}" y="${PADDING + (index + 0.75) * CELL.height}" textLength="${width.toFixed(1)}"`
  return `<text ${place} xml:space="preserve">${row
    .filter(({ text }) => text !== '')
    .map(span)
    .join('')}</text>`
}

const picture = (rows) => {
  const size = { width: WIDTH * CELL.width + 2 * PADDING, height: HEIGHT * CELL.height + 2 * PADDING }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" role="img"`,
    ' aria-label="The demo in a terminal: three locks, who holds them, who waits"',
    ' font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">',
    `<rect width="100%" height="100%" rx="8" fill="#0d1117"/>`,
    ...rows.filter((row) => row.length > 0).map((row) => line(row, rows.indexOf(row))),
    '</svg>',
  ].join('\n')
}

const url = 'memory:picture'
const client = await connect({ url, watchdog: WATCHDOG })
const stage = new Stage(LOCKS)
const inside = new Inside()
const troupe = new Troupe({ client, stage, inside, watchdog: WATCHDOG, key: (lock) => lock, onLine: () => undefined })
const crasher = victim(connect, { url, watchdog: WATCHDOG, lock: 'orders' })
void story({ troupe, inside, victim: crasher, pace: 1, length: END })
while (troupe.now() < MOMENT) {
  troupe.sample()
  await new Promise((resolve) => setTimeout(resolve, 90))
}
await writeFile(
  new URL('../docs/demo.svg', import.meta.url),
  picture(frame(stage, { where: 'memory:', now: troupe.now(), end: END })),
)
process.exit(0)
