import { Command } from 'ioredis'
import { slotOf } from '../../keys.js'
import type { Arg, Reply } from '../../lua/values.js'
import { redirection, type SendOptions } from '../driver.js'
import type { IoredisClient } from './client-type.js'
import { rethrow, translated } from './translate-errors.js'

/** In lower case, because ioredis looks each command up several times by that. */
const EVALSHA = 'evalsha'

/**
 * A script call with only text arguments, as nearly all are. It is encoded here in one go, which saves about a third of what the client spends on
 * a command.
 */
class TextCommand extends Command {
  readonly #argv: readonly Arg[]

  constructor(argv: readonly Arg[]) {
    super(EVALSHA, [], { replyEncoding: 'utf8' })
    this.#argv = argv
  }

  override toWritable(): string {
    let text = `*${this.#argv.length}\r\n`
    for (const arg of this.#argv) {
      const word = String(arg)
      text += `$${Buffer.byteLength(word)}\r\n${word}\r\n`
    }
    return text
  }
}

const isText = (argv: readonly Arg[]): boolean => {
  for (const arg of argv) if (typeof arg === 'object') return false
  return argv[0] === 'EVALSHA'
}

/** A command for `sendCommand`, with the link's errors. The fast path is only for one node: a cluster looks for the keys among the arguments. */
export const commandOf = (argv: readonly Arg[], { binary }: SendOptions, toOneNode = false): Command => {
  const command = toOneNode && binary !== true && isText(argv) ? new TextCommand(argv) : ofWords(argv, binary)
  const { reject } = command
  command.reject = (error) => {
    reject(translated(error))
  }
  return command
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
  argv: readonly Arg[],
  route: string | undefined,
  options: SendOptions,
): Promise<Reply> => {
  const command = commandOf(argv, options)
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
