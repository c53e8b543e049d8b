import { randomBytes } from 'node:crypto'
import { systemClock } from '../../core/clock.js'
import { guard } from '../guard.js'
import { frame, HEIGHT, WIDTH } from './frame.js'
import { Inside } from './inside.js'
import { plainLine } from './plain.js'
import { paint } from './row.js'
import { Screen } from './screen.js'
import { Stage, type Line } from './stage.js'
import { LOCKS, story, WATCHDOG } from './story.js'
import { summary } from './summary.js'
import { victim } from './victim.js'
import { Troupe, type Connect } from './workers.js'

export interface DemoOptions {
  readonly connect: Connect
  readonly seconds: number
  readonly plain: boolean
  readonly url: string | undefined
}

const FRAME = 90
const FULL = 10_000
/** Of the time, kept at the end to see everybody let go. */
const LAST = 0.06

/** The address without what is secret, fit to be shown. */
const shown = (url: string): string => {
  if (url.startsWith('memory:')) return 'the engine embedded in this process'
  const [, scheme, hosts] = /^([a-z+]+):\/\/(?:.*@)?([^/?#]*)/i.exec(url) ?? []
  return scheme === undefined ? 'the given server' : `${scheme}://${hosts ?? ''}`.slice(0, WIDTH - 36)
}

/** The live picture while the terminal is large enough, else one line an event. */
class Output {
  readonly #screen = new Screen(process.stdout, WIDTH, HEIGHT)
  readonly #colours = process.stdout.isTTY && !process.env['NO_COLOR']
  #live: boolean

  constructor(plain: boolean) {
    this.#live = !plain && process.stdout.isTTY && process.env['TERM'] !== 'dumb' && this.#screen.fits
    if (this.#live) this.#screen.enter()
  }

  readonly suspend = (): void => {
    this.#screen.leave()
    process.kill(process.pid, 'SIGSTOP')
  }

  readonly resume = (): void => {
    if (this.#live) this.#screen.enter()
  }

  readonly restore = (): void => {
    this.#live = false
    this.#screen.leave()
  }

  line(line: Line): void {
    if (!this.#live) process.stdout.write(`${plainLine(line)}\n`)
  }

  draw(stage: Stage, where: string, now: number, end: number): void {
    if (this.#live && !this.#screen.fits) this.restore()
    if (this.#live) this.#screen.draw(frame(stage, { where, now, end }).map((row) => paint(row, this.#colours)))
  }

  end(stage: Stage, left: readonly string[], plain: boolean): void {
    this.restore()
    const rows = summary(stage, left).map((row) => paint(row, this.#colours && !plain))
    process.stdout.write(`${rows.join('\n')}\n\n`)
  }
}

const prepare = async ({ connect, seconds, url = 'memory:' }: DemoOptions, onLine: (line: Line) => void) => {
  // Clients meet on an embedded engine by its name.
  const at = url === 'memory:' ? 'memory:demo' : url
  const pace = Math.min(1, (seconds * 1000) / FULL)
  const watchdog = WATCHDOG * pace
  const client = await connect({ url: at, watchdog })
  const stage = new Stage(LOCKS)
  const inside = new Inside()
  // Two demos on one server must not meet, nor may this one meet anybody's real locks.
  const run = randomBytes(4).toString('hex')
  const key = (lock: string): string => `holdfast-demo:${run}:${lock}`
  const troupe = new Troupe({ client, stage, inside, watchdog, key, onLine })
  const cleo = victim(connect, { url: at, watchdog, lock: key('orders') })
  return { client, stage, inside, troupe, victim: cleo, pace, where: shown(at) }
}

const leftBehind = async (troupe: Troupe): Promise<string[]> => {
  const locked = await Promise.all(LOCKS.map((name) => troupe.lock(name).isLocked()))
  return LOCKS.filter((_, index) => locked[index])
}

/** The demo; answers with the exit code, 1 when two were ever seen inside one lock. */
export const demo = async (options: DemoOptions): Promise<number> => {
  const early: Line[] = []
  let tell = (line: Line): void => void early.push(line)
  const cast = await prepare(options, (line) => tell(line))
  const { client, stage, troupe, pace } = cast
  const output = new Output(options.plain)
  tell = (line) => output.line(line)
  const release = guard({
    restore: output.restore,
    stop: () => {
      troupe.over()
      return client.close()
    },
  })
  process.on('SIGTSTP', output.suspend).on('SIGCONT', output.resume)
  const end = options.seconds * 1000
  const draw = (): void => {
    troupe.sample()
    output.draw(stage, cast.where, troupe.now(), end)
    timer = systemClock.setTimer(draw, FRAME)
  }
  let timer = systemClock.setTimer(draw, 0)
  try {
    await story({ ...cast, pace, length: end * (1 - LAST) })
    await new Promise<void>((resolve) => systemClock.setTimer(resolve, Math.max(0, end - troupe.now())))
    const left = await leftBehind(troupe)
    troupe.sample()
    output.end(stage, left, options.plain)
    return stage.violations === 0 ? 0 : 1
  } finally {
    troupe.over()
    timer.cancel()
    process.off('SIGTSTP', output.suspend).off('SIGCONT', output.resume)
    output.restore()
    release()
    await client.close()
  }
}
