import type { Driver, DriverEvents, SendOptions, SubscriptionKind } from '#src/engine/driver.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import type { MemoryServer } from '#src/engine/memory/server.js'
import type { Arg, Reply } from '#src/lua/values.js'

/** The embedded server behind a connection on which some commands are refused, or all stand still. */
export class PartialDriver implements Driver {
  readonly address = 'memory:partial'
  /** It is one of the masters that this driver reaches, and others may be away. */
  cluster = false
  /** Asked for each command by its words: the error in which it ends. */
  refuses: (words: readonly string[]) => string | undefined = () => undefined
  /** The master that has a key. */
  nodeOf?: (route: string) => string | undefined
  /** Commands are sent when it resolves. */
  until: Promise<unknown> | undefined
  readonly #driver: MemoryDriver

  constructor(server: MemoryServer) {
    this.#driver = new MemoryDriver(server, undefined)
  }

  get isUp(): boolean {
    return this.#driver.isUp
  }

  open(events: DriverEvents): Promise<void> {
    return this.#driver.open(events)
  }

  async send(argv: readonly Arg[], options?: SendOptions): Promise<Reply> {
    const refusal = this.refuses([...argv.map(String), options?.route ?? ''])
    if (refusal !== undefined) throw new Error(refusal)
    if (this.until !== undefined) await this.until
    return this.#driver.send(argv, options)
  }

  subscribe(name: string, kind: SubscriptionKind): Promise<void> {
    return this.#driver.subscribe(name, kind)
  }

  unsubscribe(name: string, kind: SubscriptionKind): Promise<void> {
    return this.#driver.unsubscribe(name, kind)
  }

  close(): Promise<void> {
    return this.#driver.close()
  }
}
