import type { ScanProgress } from '../../api/listing.js'

const WIDTH = 50
/** ms between two changes of the line. */
const PAUSE = 100

/** Shows on stderr how far a scan is, if a person can see it there. */
export class Progress {
  readonly #shown = process.stderr.isTTY
  #last = -PAUSE

  readonly step = ({ looked, keys }: ScanProgress): void => {
    if (!this.#shown || performance.now() - this.#last < PAUSE) return
    this.#last = performance.now()
    this.#write(`looked at ${looked.toLocaleString('en')} of ${keys.toLocaleString('en')} keys`)
  }

  end(): void {
    if (this.#last < 0) return
    this.#last = -PAUSE
    this.#write('')
  }

  #write(text: string): void {
    process.stderr.write(`\r${text.padEnd(WIDTH)}\r`)
  }
}
