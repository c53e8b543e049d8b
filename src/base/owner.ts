import type { Owner } from '../api/hold.js'
import { quoted } from '../plain-text.js'

const BRAND = Symbol.for('holdfast.owner')

/**
 * A unit of work. Redis does not see it: each tenure of an owner has its own wire name there, so that a late copy of an old
 * command never meets a new hold.
 */
export class UnitOfWork implements Owner {
  readonly label: string | undefined

  constructor(label?: string) {
    this.label = label
  }

  get [BRAND](): true {
    return true
  }

  toString(): string {
    return this.label === undefined ? 'this owner' : `owner ${quoted(this.label)}`
  }
}

export const isOwner = (value: unknown): value is UnitOfWork =>
  typeof value === 'object' && value !== null && BRAND in value
