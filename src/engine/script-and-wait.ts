import { EngineError } from '../errors.js'
import type { Script } from '../lua/script.js'
import { integer } from '../lua/reply-shape.js'
import type { Arg, Reply } from '../lua/values.js'
import type { Driver, SendOptions } from './driver.js'
import type { Exchanges, Expected } from './exchanges.js'
import { withText } from './evalsha.js'
import { type WaitFor, WaitCommands } from './wait-commands.js'
import { errorOf } from '../thrown.js'

/** The answer of a script, and that of the WAIT after it. */
type Both = [Reply, Promise<Reply>]

const WAIT: Expected = { name: 'WAIT', fits: integer }

/** Runs scripts, each followed by a WAIT on the same connection. */
export class ScriptAndWait {
  readonly #driver: Driver
  readonly #exchanges: Exchanges
  /** By node. */
  readonly #waits = new Map<string, WaitCommands>()

  constructor(driver: Driver, exchanges: Exchanges) {
    this.#driver = driver
    this.#exchanges = exchanges
  }

  run(call: Arg[], script: Script, sending: SendOptions, wait: WaitFor): Promise<Both> {
    const both = async (argv: Arg[]): Promise<Both> => {
      let elsewhere: string | undefined
      const redirected = (node: string): void => {
        elsewhere = node
      }
      const node = this.#driver.nodeOf?.(sending.route ?? '')
      const answered = this.#exchanges.exchange(argv, { ...sending, redirected }, script)
      const behind = this.#waitFor(wait, node)
      const reply = await answered
      // The WAIT that followed it went to the former node.
      return [reply, elsewhere === undefined ? behind : this.#waitFor(wait, elsewhere)]
    }
    return both(call).catch((error: unknown) => {
      if (!(error instanceof EngineError && error.code === 'NOSCRIPT')) throw error
      return both(withText(call, script))
    })
  }

  /** Must be called in the tick that sent the script, or when the script was answered. */
  #waitFor(wait: WaitFor, node = ''): Promise<Reply> {
    let waits = this.#waits.get(node)
    if (waits === undefined) {
      const ask = ({ replicas, timeout }: WaitFor): Promise<Reply> =>
        this.#exchanges.exchange(['WAIT', replicas, timeout], { node }, WAIT)
      this.#waits.set(node, (waits = new WaitCommands(ask)))
    }
    return waits.join(wait).catch(errorOf)
  }
}
