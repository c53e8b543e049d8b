import { frame, HEIGHT, WIDTH, type Show } from './frame.js'
import { plainLine } from './plain-line.js'
import { paint } from '../text/styled-row.js'
import { Screen } from '../text/screen.js'
import type { Line, Stage } from './stage.js'
import { summary } from './summary.js'

/** Draws the live picture while the terminal is large enough, else writes one line for each event. */
export class Output {
  readonly #screen = new Screen(process.stdout, WIDTH, HEIGHT)
  readonly #colours = process.stdout.isTTY && !process.env['NO_COLOR']
  #live: boolean

  constructor(plain: boolean) {
    this.#live = !plain && process.stdout.isTTY && process.env['TERM'] !== 'dumb' && this.#screen.fits
  }

  /** Called at the beginning, and when a stopped process continues. */
  readonly enter = (): void => {
    if (this.#live) this.#screen.enter()
  }

  readonly suspend = (): void => {
    this.#screen.leave()
    process.kill(process.pid, 'SIGSTOP')
  }

  readonly restore = (): void => {
    this.#live = false
    this.#screen.leave()
  }

  line(line: Line): void {
    if (!this.#live) process.stdout.write(`${plainLine(line)}\n`)
  }

  draw(stage: Stage, show: Show): void {
    if (this.#live && !this.#screen.fits) this.restore()
    if (this.#live) this.#screen.draw(frame(stage, show).map((row) => paint(row, this.#colours)))
  }

  end(stage: Stage, left: readonly string[], plain: boolean): void {
    this.restore()
    const rows = summary(stage, left).map((row) => paint(row, this.#colours && !plain))
    process.stdout.write(`${rows.join('\n')}\n\n`)
  }
}
