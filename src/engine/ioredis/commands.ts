import { Command } from 'ioredis'
import { slotOf } from '../../keys.js'
import type { Arg, Reply } from '../../lua/values.js'
import { redirection, type SendOptions } from '../driver.js'
import type { IoredisClient } from './client-type.js'
import { rethrow, translated } from './translate-errors.js'
import { WriteBatches } from './write-batches.js'

/** In lower case, because ioredis looks each command up several times by that. */
const EVALSHA = 'evalsha'

/**
 * A script call with only text arguments, as nearly all are. It is encoded here in one go, which saves about a third of what the client spends on
 * a command.
 */
class TextCommand extends Command {
  protected readonly argv: readonly Arg[]

  constructor(argv: readonly Arg[]) {
    super(EVALSHA, [], { replyEncoding: 'utf8' })
    this.argv = argv
  }

  override toWritable(_socket: object): string {
    let text = `*${this.argv.length}\r\n`
    for (const arg of this.argv) {
      const word = String(arg)
      text += `$${Buffer.byteLength(word)}\r\n${word}\r\n`
    }
    return text
  }
}

/** The same in a cluster. ioredis looks for the node by the slot, so the socket is known only when the command is written. */
class ClusterTextCommand extends TextCommand {
  override getSlot(): number {
    return slotOf(String(this.argv[FIRST_KEY]))
  }

  override toWritable(socket: object): string {
    WriteBatches.on(socket as NonNullable<IoredisClient['stream']>).join()
    return super.toWritable(socket)
  }
}

/** Where the number of keys and the first of them stand in a script call. */
const KEYS = 2
const FIRST_KEY = 3

/** A connection to one server and a client of a cluster, both holdfast's own; or a client of the caller's. */
export type Through = 'one server' | 'cluster' | 'lent'

const isText = (argv: readonly Arg[]): boolean => {
  for (const arg of argv) if (typeof arg === 'object') return false
  return argv[0] === 'EVALSHA'
}

/** A command for `sendCommand`, with the link's errors. */
export const commandOf = (argv: readonly Arg[], { binary }: SendOptions, through: Through): Command => {
  const command = binary === true ? ofWords(argv, true) : (ofText(argv, through) ?? ofWords(argv))
  const { reject } = command
  command.reject = (error) => {
    reject(translated(error))
  }
  return command
}

/** A cluster finds the node of a script without keys among the arguments. */
const ofText = (argv: readonly Arg[], through: Through): Command | undefined => {
  if (through === 'lent' || !isText(argv)) return undefined
  if (through === 'one server') return new TextCommand(argv)
  return argv[KEYS] === 0 ? undefined : new ClusterTextCommand(argv)
}

const ofWords = (argv: readonly Arg[], binary?: boolean): Command => {
  const [name, args] = wordsOf(argv)
  return new Command(name === 'EVALSHA' ? EVALSHA : name, args, { replyEncoding: binary === true ? null : 'utf8' })
}

/** Only the caller's client knows its options for commands, so this calls its own methods. */
export const call = (client: IoredisClient, argv: readonly Arg[], { binary }: SendOptions = {}): Promise<Reply> => {
  const [name, args] = wordsOf(argv)
  try {
    const reply = binary === true ? client.callBuffer(name, ...args) : client.call(name, ...args)
    return (reply as Promise<Reply>).catch(rethrow)
  } catch (error) {
    // The client is the caller's, and may be wrapped.
    return Promise.reject(translated(error))
  }
}

/** ioredis accepts bytes only as a Buffer. */
const wordsOf = ([name, ...args]: readonly Arg[]): [name: string, args: (string | number | Buffer)[]] => {
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]
    if (arg instanceof Uint8Array) args[i] = Buffer.from(arg.buffer, arg.byteOffset, arg.length)
  }
  return [name as string, args as (string | number | Buffer)[]]
}

/** In a cluster: sends a command without a key of its own to the node of another command's key. */
export const follow = (
  cluster: IoredisClient,
  command: Command,
  route: string | undefined,
  options: SendOptions,
): Promise<Reply> => {
  const slot = route === undefined ? undefined : { slot: slotOf(route) }
  const reply = cluster.sendCommand(command, undefined, slot) as Promise<Reply>
  // ioredis follows the redirection itself without an event.
  const reject = command.reject.bind(command)
  command.reject = (error) => {
    const to = redirection(error.message)
    if (to !== undefined) options.redirected?.(to)
    reject(error)
  }
  return reply
}

/** Commands without a key that must go where a key is: after another command, in order with each other, or because they ask about that server. */
const KEYLESS: ReadonlySet<unknown> = new Set(['WAIT', 'PUBLISH', 'TIME', 'PUBSUB'])

/** A script without keys counts, too. */
export const isKeyless = ([name, , keys]: readonly Arg[]): boolean =>
  KEYLESS.has(name) || (keys === 0 && typeof name === 'string' && /^(?:EVAL|FCALL)/.test(name))
