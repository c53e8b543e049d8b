import { HoldfastError } from '../errors.js'
import { checkLease } from '../options.js'
import type { Hold, HoldState } from '../types.js'
import type { UnitOfWork } from './owner.js'
import type { Tenure, Terms } from './tenure.js'

/** One level of a tenure, in the hands of the caller. */
export class TenureHold implements Hold {
  readonly #tenure: Tenure
  readonly owner: UnitOfWork
  readonly terms: Terms
  #end: 'released' | 'lost' | 'detached' | undefined
  #reason: Error | undefined
  /** Made when first asked for: most holds are never listened to. */
  #controller: AbortController | undefined
  #released: Promise<boolean> | undefined

  constructor(tenure: Tenure, owner: UnitOfWork, terms: Terms) {
    this.#tenure = tenure
    this.owner = owner
    this.terms = terms
  }

  get name(): string {
    return this.#tenure.name
  }

  get tenure(): Tenure {
    return this.#tenure
  }

  get state(): HoldState {
    // What the tenure finds to be over it ends at once, this hold included.
    if (this.#end === undefined) {
      const status = this.#tenure.status()
      if (status !== 'lost') return status
    }
    return this.#end ?? 'lost'
  }

  get lost(): boolean {
    return this.state === 'lost'
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#end === undefined) this.#tenure.status()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  remaining(): number {
    return this.#end === undefined ? this.#tenure.remaining() : 0
  }

  async extend(lease: number = this.terms.lease): Promise<void> {
    checkLease(lease)
    if (this.terms.watched) {
      throw new RangeError(`extend(${lease}): '${this.name}' is renewed by the watchdog; only a fixed lease can be extended`)
    }
    if (this.state === 'lost') throw this.#tenure.gone()
    this.#mustBeLive('extended')
    await this.#tenure.extend(lease)
  }

  release(): Promise<boolean> {
    return (this.#released ??= this.#release())
  }

  #release(): Promise<boolean> {
    const state = this.state
    if (state !== 'held' && state !== 'uncertain') return NOT_OURS
    this.#end = 'released'
    return this.#tenure.leave(this)
  }

  async detach(): Promise<string> {
    if (this.state === 'lost') throw this.#tenure.gone()
    this.#mustBeLive('detached')
    if (this.#tenure.level > 1) {
      throw new HoldfastError('NESTED_HOLD', `'${this.name}' is held more than once: release the inner holds first`, {
        target: this.name,
      })
    }
    return this.#tenure.detach(this)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }

  /** From the tenure: this hold is over. A reason fires the signal. */
  end(how: 'released' | 'lost' | 'detached', reason?: Error): void {
    if (this.#end !== undefined) return
    this.#end = how
    this.#reason = reason
    if (reason !== undefined) this.#controller?.abort(reason)
  }

  #mustBeLive(verb: string): void {
    if (this.#end === undefined) return
    throw new HoldfastError('NOT_OWNER', `'${this.name}' cannot be ${verb}: this hold was ${this.#end}`, {
      target: this.name,
    })
  }
}

const NOT_OURS = Promise.resolve(false)
