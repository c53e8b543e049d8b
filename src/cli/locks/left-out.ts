import type { SkippedLock } from '../../api/listing.js'
import { partOf, textOf } from '../../thrown.js'
import { codeOfError, EXIT } from '../exit-code.js'
import { say } from '../say.js'

/** What a list leaves out because it cannot be read. */
export class LeftOut {
  #named = 0
  /** What a client has published could not be read, so nobody knows how many locks are missing. */
  #unnamed = false
  #first: Error | undefined

  readonly add = ({ name, error }: SkippedLock): void => {
    // A user who may not read what clients publish knows that, and asks for a scan.
    if (name === undefined && partOf(error, 'code') === 'NOPERM') return
    this.#first ??= error
    if (name === undefined) this.#unnamed = true
    else this.#named += 1
  }

  /** Undefined: nothing is left out. */
  get text(): string | undefined {
    const [error, count] = [this.#first, this.#named]
    if (error === undefined) return undefined
    const which = count === 0 ? 'some locks' : count === 1 ? 'a lock' : `${count} locks`
    const more = count > 0 && this.#unnamed ? ', and perhaps others,' : ''
    return `left out ${which}${more} that could not be read: ${textOf(error)}`
  }

  /** Tells the user, and returns the exit code. */
  report(): number {
    const { text } = this
    if (text === undefined) return 0
    say(text)
    const code = codeOfError(this.#first, EXIT.conflict)
    return code === EXIT.unavailable ? code : 0
  }
}
