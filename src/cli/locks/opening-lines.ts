import { say } from '../say.js'

/** How many of the holders and waiters that are there at first are shown. */
const SHOWN = 20
/** ms without a further one, after which the rest is counted. */
const PAUSE = 500

/** Keeps the locks that were there before from filling the screen of a terminal. */
export class OpeningLines {
  #seen = 0
  #timer: NodeJS.Timeout | undefined

  /** Whether this event is one too many. */
  hides(initial: boolean): boolean {
    if (!initial) this.#tell()
    else if (++this.#seen > SHOWN) {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(this.#tell, PAUSE)
      return true
    }
    return false
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  readonly #tell = (): void => {
    if (this.#timer === undefined) return
    this.end()
    say(`and ${this.#seen - SHOWN} more that held or waited before: holdfast ls lists the locks`)
  }
}
