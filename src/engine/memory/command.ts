import type { Database } from './database.js'
import type { PubSub } from './pubsub.js'
import type { Bytes, Reply } from './reply.js'
import type { ScanCursors } from './scan.js'
import type { ScriptCache } from './script-cache.js'

/** What a handler gets besides its arguments: the key space, and the client that asks. Valid only during the call. */
export interface CommandContext {
  readonly database: Database
  readonly server: ServerServices
  readonly session: Session
}

/** Services for commands about the server itself; implemented by MemoryServer. */
export interface ServerServices {
  readonly pubsub: PubSub
  readonly scripts: ScriptCache
  readonly cursors: ScanCursors
  /** For CONFIG SET and GET: values are stored, but have no effect. */
  readonly config: Map<Bytes, Bytes>
  /** Whole seconds since the server started. */
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
  /** The command runs in a script, where some commands are refused. */
  readonly script: boolean
  /** The name set with CLIENT SETNAME. */
  name?: Bytes
}

export interface Command {
  /** Counts like Redis: the command's name is included; a negative number means "at least". */
  readonly arity: number
  readonly write?: boolean
  /** Refused inside scripts. */
  readonly noScript?: boolean
  /** The commands named by a second word. Such a command has the arity -2. */
  readonly subcommands?: ReadonlyMap<string, Command>
  /** `argv[0]` is the name. Throws a ReplyError to answer with an error. */
  handle(argv: readonly Bytes[], context: CommandContext): Reply
}

export type CommandTable = Readonly<Record<string, Command>>

export const arityFits = (command: Command, words: number): boolean =>
  command.arity < 0 ? words >= -command.arity : words === command.arity
