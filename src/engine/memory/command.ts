import type { Database } from './database.js'
import type { PubSub } from './pubsub.js'
import type { Bytes, Reply } from './reply.js'
import type { ScanCursors } from './scan.js'
import type { ScriptCache } from './script-cache.js'

/** What a handler sees besides its arguments: the key space and who asks. Good for the time of the call only. */
export interface CommandContext {
  readonly database: Database
  readonly server: ServerServices
  readonly session: Session
}

/** What handlers of the server's own affairs need; implemented by MemoryServer. */
export interface ServerServices {
  readonly pubsub: PubSub
  readonly scripts: ScriptCache
  readonly cursors: ScanCursors
  /** CONFIG SET and GET: remembered, without any effect. */
  readonly config: Map<Bytes, Bytes>
  /** Whole seconds since the server came to be. */
  readonly uptime: number
  /** Uniform in [0, 1). */
  random(): number
  /** Microseconds since the epoch. */
  microseconds(): number
  publish(channel: Bytes, payload: Bytes, sharded: boolean): number
}

/** One client. */
export interface Session {
  readonly id: number
  /** Within a script; some commands are refused there. */
  readonly script: boolean
  /** CLIENT SETNAME. */
  name?: Bytes
}

export interface Command {
  /** As Redis counts: with the command's name; negative is "at least". */
  readonly arity: number
  readonly write?: boolean
  /** Refused inside scripts. */
  readonly noScript?: boolean
  /** The commands behind a second word; such a command has no arity of its own but -2. */
  readonly subcommands?: ReadonlyMap<string, Command>
  /** `argv[0]` is the name. Throws a ReplyError to answer with an error. */
  handle(argv: readonly Bytes[], context: CommandContext): Reply
}

export type CommandTable = Readonly<Record<string, Command>>

export const arityFits = (command: Command, words: number): boolean =>
  command.arity < 0 ? words >= -command.arity : words === command.arity
