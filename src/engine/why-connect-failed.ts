import { ConfigError, EngineError, type HoldfastError, serverError } from '../errors.js'

/**
 * The server's answers to a SELECT that it will never carry out, and holdfast's own error for a lent connection after such a
 * SELECT.
 */
const NO_DATABASE =
  /DB index is out of range|invalid DB index|SELECT is not allowed in cluster mode|refused its SELECT/i

/** Why the database in question cannot be used; undefined: the error means something else. */
export const missingDatabase = (text: string): string | undefined => {
  if (!NO_DATABASE.test(text)) return undefined
  const index = /\(at its SELECT (\d+)\)/.exec(text)?.[1]
  const said = text.replace(/^ERR /, '').replace(/ \(at its SELECT.*/, '')
  return `${index === undefined ? 'its database' : `database ${index}`} does not exist: ${said}`
}

/** The error that `connect` rejects with. */
export const connectError = (address: string, error: Error): HoldfastError => {
  const missing = missingDatabase(error.message)
  if (missing !== undefined) return new ConfigError(`cannot connect to ${address}: ${missing}`, error)
  const known = serverError(error.message)
  const code = known.code === 'SERVER' ? 'OFFLINE' : known.code
  return new EngineError(code, `cannot connect to ${address}: ${known.message}`)
}
