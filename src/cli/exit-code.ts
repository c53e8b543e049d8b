import { constants } from 'node:os'
import {
  AcquireTimeoutError,
  ConfigError,
  EngineError,
  LockLostError,
  MembersError,
  ReplicationError,
} from '../errors.js'
import { isA, partOf } from '../thrown.js'
import { UsageError } from './usage-error.js'

/** The exit codes of the commands, and those of `holdfast run` that are not its command's own. Most are those of sysexits.h. */
export const EXIT = {
  usage: 64,
  unavailable: 69,
  bug: 70,
  /** The disk is full, for example. Never of `run`, whose output is the command's. */
  output: 74,
  conflict: 75,
  notPermitted: 77,
  config: 78,
  lost: 79,
  cannotExecute: 126,
  notFound: 127,
} as const

/** As a shell reports a process that this signal ended. */
export const codeOfSignal = (signal: NodeJS.Signals): number => 128 + constants.signals[signal]

/** This machine has no room for another process. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

const NOT_PERMITTED: readonly string[] = ['NOPERM', 'NOAUTH', 'WRONGPASS']

/** The exit code for what went wrong before the command was started. `conflict`: the code for a lock that could not be acquired in time. */
export const codeOfError = (error: unknown, conflict: number): number => {
  if (isA(error, UsageError)) return EXIT.usage
  if (isA(error, StartError)) return EXIT.cannotExecute
  // The last trouble on the way. If the server was away, nobody knows whether the lock was free.
  const cause = partOf(error, 'cause')
  if (isA(error, AcquireTimeoutError)) return isA(cause, EngineError) ? codeOfError(cause, conflict) : conflict
  if (isA(error, MembersError)) return codeOfError(cause, conflict)
  if (isA(error, ConfigError)) return EXIT.config
  if (isA(error, LockLostError)) return EXIT.lost
  if (isA(error, ReplicationError)) return EXIT.unavailable
  if (!isA(error, EngineError)) return EXIT.bug
  if (NOT_PERMITTED.includes(error.code)) return EXIT.notPermitted
  return error.code === 'WRONG_KIND' ? EXIT.config : EXIT.unavailable
}

/** How a process ended. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** It could not be started at all. */
  readonly error?: unknown
}

/** The exit code of the command, as a shell reports it. */
export const codeOfCommand = ({ code, signal, error }: Ended): number => {
  if (error !== undefined) return partOf(error, 'code') === 'ENOENT' ? EXIT.notFound : EXIT.cannotExecute
  return signal === null ? (code ?? EXIT.bug) : codeOfSignal(signal)
}
