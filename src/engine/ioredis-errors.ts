import { NoReply, NotSent, redirection } from './engine.js'
import { reasonOf } from './own-client.js'

/** ioredis hangs the command on its errors, and AUTH's arguments hold the password. */
export const withoutCommand = (error: Error): Error => {
  const source = (error as { lastNodeError?: Error }).lastNodeError ?? error
  return new Error(reasonOf(source))
}

/** Where ioredis gave up asking on, the server's last answer is within words of its own. */
const GAVE_UP = /^Too many Cluster redirections\. Last error: ReplyError: (.*)$/s

/** Told apart for the link: never sent, sent and unanswered, or answered with an error. */
export const translated = (error: Error): Error => {
  if (error.name === 'ReplyError') return withoutCommand(error)
  const answer = GAVE_UP.exec(error.message)?.[1]
  // Nodes that send from one to the other are handing over a slot.
  if (answer !== undefined)
    return new Error(redirection(answer) === undefined ? answer : `TRYAGAIN last answer: ${answer}`)
  if (error.message.startsWith("Stream isn't writeable")) return new NotSent(error.message)
  return new NoReply(withoutCommand(error).message)
}

export const rethrow = (error: Error): never => {
  throw translated(error)
}
