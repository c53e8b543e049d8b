import type { Owner } from '../api/hold.js'
import { quoted } from '../plain-text.js'

const BRAND = Symbol.for('holdfast.owner')

/**
 * A unit of work. What Redis sees is another matter: each hold of an owner goes by a number of its own there, so that a
 * late copy of an old command never meets a new hold.
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
