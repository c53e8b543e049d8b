import { partOf, textOf } from '../thrown.js'
import { codeOfError, EXIT } from './exit-code.js'
import { crash, say } from './say.js'

/** Tells the user about an error, and returns the exit code for it. Wrong usage is thrown again. `conflict`: see `codeOfError`. */
export const reportError = (error: unknown, conflict: number = EXIT.conflict): number => {
  const code = codeOfError(error, conflict)
  if (code === EXIT.usage) throw error
  if (code === EXIT.bug) crash(error)
  const cause = partOf(error, 'cause')
  say(cause === undefined ? textOf(error) : `${textOf(error)}: ${textOf(cause)}`)
  return code
}
