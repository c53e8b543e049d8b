import { NoReply, NotSent } from '../driver.js'
import { errorOf } from '../../thrown.js'

export const refuse = (error: unknown): never => {
  throw translated(error)
}

/** Recognizes errors by their texts, because their classes belong to the caller's copy of node-redis. */
export const translated = (thrown: unknown): Error => {
  const error = errorOf(thrown)
  if (error instanceof NotSent) return error
  // A server's error begins with a word in capitals; errors of node-redis and of the system do not.
  if (/^[A-Z]{2,} /.test(error.message)) return new Error(error.message)
  if (/^The client is (closed|offline)/.test(error.message)) return new NotSent(error.message)
  return new NoReply(error.message)
}
