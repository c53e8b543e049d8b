import type { Clock } from '../../base/clock.js'
import { arityFits, type Command, type CommandContext, type ServerServices, type Session } from './command.js'
import { findCommand } from './commands/index.js'
import { isAllowedInScripts, unsupportedName } from './commands/unsupported.js'
import { Database } from './database.js'
import { tooLong, unknownCommand, unknownSubcommand, unsupported, wrongArity } from './error-texts.js'
import { PubSub } from './pubsub.js'
import { type Bytes, type Reply, ReplyError } from './reply.js'
import { ScanCursors } from './scan.js'
import { ScriptCache } from './script-cache.js'

const SCRIPT: Session = { id: 0, script: true }

/**
 * A Redis server inside this process: commands in, replies out, all synchronous. It behaves like Redis 7.0, down to the texts of
 * its errors. So code that works here works there.
 */
export class MemoryServer implements ServerServices {
  readonly clock: Clock
  readonly database: Database
  readonly pubsub = new PubSub()
  readonly cursors = new ScanCursors()
  readonly config = new Map<Bytes, Bytes>()
  readonly scripts: ScriptCache
  readonly #born: number
  readonly #inScript: CommandContext
  /** Shared by all clients: each handler is done with it before the next one starts. */
  readonly #context: { database: Database; server: ServerServices; session: Session }
  readonly #session: Session
  #sessions = 0

  constructor(clock: Clock) {
    this.clock = clock
    this.#born = clock.monotonic()
    this.database = new Database(clock)
    this.scripts = new ScriptCache({ call: (argv) => this.#callFromScript(argv) }, clock)
    this.#session = this.connect()
    this.#context = { database: this.database, server: this, session: this.#session }
    this.#inScript = { database: this.database, server: this, session: SCRIPT }
  }

  /** A session for a new client. */
  connect(): Session {
    return { id: (this.#sessions += 1), script: false }
  }

  /** Runs one command of a client. An error is returned, not thrown. */
  execute(argv: readonly Bytes[], session: Session = this.#session): Reply {
    const command = findCommand(argv[0] ?? '')
    if (command === undefined) return missing(argv) ?? unknownCommand(argv)
    const inner = argv.length > 1 ? command.subcommands?.get((argv[1] as Bytes).toLowerCase()) : undefined
    if (inner === undefined && command.subcommands !== undefined && argv.length > 1)
      return missing(argv) ?? unknownSubcommand(argv)
    const chosen = inner ?? command
    if (!arityFits(chosen, argv.length)) return wrongArity(fullName(argv, inner))
    this.#context.session = session
    this.database.beginCommand()
    try {
      return answer(chosen, argv, this.#context)
    } finally {
      this.database.endCommand()
    }
  }

  get uptime(): number {
    return Math.floor((this.clock.monotonic() - this.#born) / 1000)
  }

  random(): number {
    return this.clock.random()
  }

  microseconds(): number {
    return this.database.now() * 1000
  }

  publish(channel: Bytes, payload: Bytes, sharded: boolean): number {
    return this.pubsub.publish(channel, payload, sharded)
  }

  /** Forgets everything, and leaves no timer behind. */
  close(): void {
    this.database.clear()
    this.scripts.flush()
  }

  #callFromScript(argv: readonly Bytes[]): Reply {
    let command = findCommand(argv[0] ?? '')
    if (command?.subcommands !== undefined && argv.length > 1) {
      command = command.subcommands.get((argv[1] as Bytes).toLowerCase())
    }
    if (command === undefined) return missingInScript(argv)
    if (!arityFits(command, argv.length))
      return new ReplyError('ERR Wrong number of args calling Redis command from script')
    if (command.noScript === true) return notAllowedInScripts()
    if (command.write === true && this.scripts.readOnly) {
      return new ReplyError('ERR Write commands are not allowed from read-only scripts.')
    }
    return answer(command, argv, this.#inScript)
  }
}

const missing = (argv: readonly Bytes[]): ReplyError | undefined => {
  const name = unsupportedName(argv)
  return name === undefined ? undefined : unsupported(name)
}

const notAllowedInScripts = (): ReplyError => new ReplyError('ERR This Redis command is not allowed from script')

const missingInScript = (argv: readonly Bytes[]): ReplyError => {
  const name = unsupportedName(argv)
  if (name === undefined) return new ReplyError('ERR Unknown Redis command called from script')
  return isAllowedInScripts(name) ? unsupported(name) : notAllowedInScripts()
}

const answer = (command: Command, argv: readonly Bytes[], context: CommandContext): Reply => {
  try {
    return command.handle(argv, context)
  } catch (error) {
    if (error instanceof ReplyError) return error
    // The string would be longer than JavaScript allows.
    if (error instanceof RangeError && error.message.includes('string length')) return tooLong()
    throw error
  }
}

const fullName = (argv: readonly Bytes[], inner: Command | undefined): string => {
  const name = (argv[0] as Bytes).toLowerCase()
  return inner === undefined ? name : `${name}|${(argv[1] as Bytes).toLowerCase()}`
}
