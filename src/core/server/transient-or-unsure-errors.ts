import { EngineError, isBrokenOff } from '../../errors.js'
import { isAway } from '../../away-or-refusing.js'

/** After these errors, a step may have run. An unknown error may come from a proxy, which knows no more than we do. */
export const UNSURE: ReadonlySet<string> = new Set(['NO_REPLY', 'BAD_REPLY', 'SERVER'])
const PASSING: ReadonlySet<string> = new Set([
  'BUSY',
  'LOADING',
  'READONLY',
  'MASTERDOWN',
  'CLUSTERDOWN',
  'TRYAGAIN',
  'MOVED',
  'ASK',
])

/** Trouble that may pass: waiters wait it out, once the server has answered them at all. */
export const isTransient = (trouble: unknown): boolean =>
  isAway(trouble) || (trouble instanceof EngineError && PASSING.has(trouble.code))

/** The user of the connection may not do this. */
export const isRefused = (trouble: unknown): boolean => trouble instanceof EngineError && trouble.code === 'NOPERM'

/** The key holds something else. */
export const isWrongKind = (trouble: unknown): boolean =>
  trouble instanceof EngineError && trouble.code === 'WRONG_KIND'

/** The slot is moving between nodes. A call that waits goes on when it has arrived, whether it was answered before or not. */
export const isMoving = (trouble: unknown): boolean =>
  trouble instanceof EngineError && (trouble.code === 'TRYAGAIN' || trouble.code === 'ASK')

/** Whether the server may have run the step, or part of it: if a key moves to another node, a running script is broken off. */
export const mayHaveRun = ({ code, message }: EngineError): boolean =>
  UNSURE.has(code) || isBrokenOff(message) || (code === 'NOPERM' && message.includes(' script: '))
