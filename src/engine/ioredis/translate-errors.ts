import { NoReply, NotSent, redirection } from '../driver.js'
import { errorOf, partOf } from '../../thrown.js'

/** ioredis attaches the command to its errors, and the arguments of AUTH contain the password. */
export const withoutCommand = (error: Error): Error => {
  const last = partOf(error, 'lastNodeError')
  return new Error(wordsOf(last === undefined ? error : errorOf(last)))
}

/** The text of OpenSSL is surrounded by numbers and paths. */
interface OpenSslError extends Error {
  readonly code?: string
  readonly reason?: string
}

/** The text to show to people. */
const wordsOf = (error: OpenSslError): string => {
  const { name, message, code } = error
  const said = typeof error.reason === 'string' ? error.reason : undefined
  if (said?.includes('certificate required') === true) {
    return 'the server requires a client certificate: pass tls: { cert, key }'
  }
  if (said !== undefined && /unknown ca|bad certificate|certificate (unknown|expired|revoked)/.test(said)) {
    return `the server does not accept the client certificate (${said})`
  }
  return said ?? (message === '' ? (code ?? name) : message)
}

/** The error of a SELECT that the server refused, with the requested database; undefined: the error is about something else. */
export const refusedSelect = (error: Error): Error | undefined => {
  const { command } = error as { command?: { name?: string; args?: unknown[] } }
  if (command?.name?.toLowerCase() !== 'select') return undefined
  return new Error(`${withoutCommand(error).message} (at its SELECT ${String(command.args?.[0])})`)
}

/** When ioredis gives up on redirections, it puts the server's last answer into its own text. */
const GAVE_UP = /^Too many Cluster redirections\. Last error: ReplyError: (.*)$/s

/** Sorts errors for the link: never sent, sent but unanswered, or answered with an error. */
export const translated = (thrown: unknown): Error => {
  const error = errorOf(thrown)
  if (error.name === 'ReplyError') return withoutCommand(error)
  const answer = GAVE_UP.exec(error.message)?.[1]
  // Nodes that redirect to each other are handing over a slot.
  if (answer !== undefined)
    return new Error(redirection(answer) === undefined ? answer : `TRYAGAIN last answer: ${answer}`)
  if (error.message.startsWith("Stream isn't writeable")) return new NotSent(error.message)
  return new NoReply(withoutCommand(error).message)
}

export const rethrow = (error: unknown): never => {
  throw translated(error)
}
