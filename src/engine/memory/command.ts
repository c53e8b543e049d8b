import type { Database } from './database.js'
import type { Bytes, Reply } from './reply.js'

/** What a handler sees besides its arguments: the key space and who asks. */
export interface CommandContext {
  readonly database: Database
  readonly server: ServerServices
  readonly session: Session
}

/** What handlers of the server's own affairs need; implemented by MemoryServer. */
export interface ServerServices {
  /** Uniform in [0, 1). */
  random(): number
  /** Microseconds since the epoch. */
  microseconds(): number
  publish(channel: Bytes, payload: Bytes, sharded: boolean): number
}

/** One client. Messages go to `deliver`, never within the publisher's own call. */
export interface Session {
  readonly id: number
  /** Within a script; some commands are refused there. */
  readonly script: boolean
}

export interface Command {
  /** As Redis counts: with the command's name; negative is "at least". */
  readonly arity: number
  readonly write?: boolean
  /** Refused inside scripts. */
  readonly noScript?: boolean
  /** `argv[0]` is the name. Throws a ReplyError to answer with an error. */
  handle(argv: readonly Bytes[], context: CommandContext): Reply
}

export type CommandTable = Readonly<Record<string, Command>>
