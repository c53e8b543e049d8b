import { EngineError, isBrokenOff } from '../../errors.js'

const AWAY: ReadonlySet<string> = new Set(['OFFLINE', 'NO_REPLY'])
/** Who answers in words of its own may be a proxy, which knows as little as we do. */
export const UNSURE: ReadonlySet<string> = new Set(['NO_REPLY', 'BAD_REPLY', 'SERVER'])
const PASSING: ReadonlySet<string> = new Set([
  ...AWAY,
  'BUSY',
  'LOADING',
  'READONLY',
  'MASTERDOWN',
  'CLUSTERDOWN',
  'TRYAGAIN',
  'MOVED',
  'ASK',
])

/** Trouble that is waited out, once the server has answered a waiter at all. */
export const isTransient = (trouble: unknown): boolean => trouble instanceof EngineError && PASSING.has(trouble.code)

/** The server cannot be reached: so for all, while other trouble may be of one call only. */
export const isAway = (trouble: unknown): boolean => trouble instanceof EngineError && AWAY.has(trouble.code)

/** Something else stands under the name. */
export const isWrongKind = (trouble: unknown): boolean =>
  trouble instanceof EngineError && trouble.code === 'WRONG_KIND'

/** Its slot moves from node to node: a call that waits goes on when it has arrived, whether it was answered before or not. */
export const isMoving = (trouble: unknown): boolean =>
  trouble instanceof EngineError && (trouble.code === 'TRYAGAIN' || trouble.code === 'ASK')

/** A call with a time limit waits out what passes; one without does so once the server has answered it, or while a slot moves. */
export const waitsOut = (trouble: unknown, { wait }: { readonly wait: number }, answered: boolean): boolean =>
  isTransient(trouble) && (answered || (wait > 0 && (wait !== Infinity || isMoving(trouble))))

/** Whether the server may have done it, or a part: a script is broken off where a key moves to another node meanwhile. */
export const mayHaveRun = ({ code, message }: EngineError): boolean =>
  UNSURE.has(code) || isBrokenOff(message) || (code === 'NOPERM' && message.includes(' script: '))
