import type { LeadOptions, Term } from '../api/election.js'
import { checkOptions, checkWords } from '../check-arguments.js'
import { readMetadata, writeMetadata } from './metadata.js'
import { injectClient } from './wrap-method.js'

/** Options of `@Leader`. */
export interface LeaderOptions extends Omit<LeadOptions, 'signal'> {
  /** The name of the client. Default: the client without a name. */
  readonly client?: string | undefined
}

/** What is noted at a method of `@Leader`. */
export interface LeaderNote {
  readonly name: string
  readonly client: string | undefined
  readonly options: Omit<LeadOptions, 'signal'>
}

const KNOWN = ['value', 'lease', 'renewDeadline', 'client']
const NOTE = Symbol.for('holdfast.nest.leader')

/**
 * Calls the method when this process leads, term after term, from the start of the app until its shutdown: `@Leader('poller') async lead({ signal }: Term)`. The
 * method loops until `signal` aborts. For singleton providers and controllers.
 */
export const Leader = (name: string, options: LeaderOptions = {}) => {
  checkWords(name, 'name')
  const { client, ...rest } = checkOptions(options, KNOWN) as LeaderOptions
  const note: LeaderNote = { name, client, options: rest }
  return <M extends (term: Term) => unknown>(
    target: object,
    _key: string | symbol,
    descriptor: TypedPropertyDescriptor<M>,
  ): void => {
    if (typeof descriptor.value !== 'function') throw new TypeError('@Leader is for methods')
    // Nest then refuses to start if there is no such client.
    injectClient(target, client)
    writeMetadata(NOTE, note, descriptor.value)
  }
}

export const leaderNoteOf = (method: object): LeaderNote | undefined =>
  readMetadata(NOTE, method) as LeaderNote | undefined
