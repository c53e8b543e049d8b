import { Command } from 'ioredis'
import { slotOf } from '../../keys.js'
import type { Arg, Reply } from '../../lua/values.js'
import { redirection, type SendOptions } from '../driver.js'
import type { IoredisClient } from './client.js'
import { rethrow, translated } from './errors.js'

/** ioredis looks each command up several times, in lower case. */
const EVALSHA = 'evalsha'

/** A script that is called with text alone, as nearly all are: put together here at once, for a third of what ioredis takes for each argument. */
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

/** A command for `sendCommand`, whose errors are the link's. Only where it goes to one node: a cluster looks for the keys among its arguments. */
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

/** What options a caller's client has for its commands, only the client knows. */
export const call = (client: IoredisClient, argv: readonly Arg[], { binary }: SendOptions = {}): Promise<Reply> => {
  const [name, args] = wordsOf(argv)
  try {
    const reply = binary === true ? client.callBuffer(name, ...args) : client.call(name, ...args)
    return (reply as Promise<Reply>).catch(rethrow)
  } catch (error) {
    // It is somebody else's, and may be wrapped.
    return Promise.reject(translated(error))
  }
}

/** ioredis takes bytes for such in a Buffer only. */
const wordsOf = ([name, ...args]: readonly Arg[]): [name: string, args: (string | number | Buffer)[]] => {
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]
    if (arg instanceof Uint8Array) args[i] = Buffer.from(arg.buffer, arg.byteOffset, arg.length)
  }
  return [name as string, args as (string | number | Buffer)[]]
}

/** In a cluster: a command that has no key of its own goes where that of another goes. */
export const follow = (
  cluster: IoredisClient,
  argv: readonly Arg[],
  route: string | undefined,
  options: SendOptions,
): Promise<Reply> => {
  const command = commandOf(argv, options)
  const slot = route === undefined ? undefined : { slot: slotOf(route) }
  const reply = cluster.sendCommand(command, undefined, slot) as Promise<Reply>
  // ioredis sends it on from there, and tells nobody.
  const reject = command.reject.bind(command)
  command.reject = (error) => {
    const to = redirection(error.message)
    if (to !== undefined) options.redirected?.(to)
    reject(error)
  }
  return reply
}

/** Commands without a key that belong where a key is: they follow a command, or one another. */
const KEYLESS: ReadonlySet<unknown> = new Set(['WAIT', 'PUBLISH'])

/** A script without keys too. */
export const isKeyless = ([name, , keys]: readonly Arg[]): boolean =>
  KEYLESS.has(name) || (keys === 0 && typeof name === 'string' && name.startsWith('EVAL'))
