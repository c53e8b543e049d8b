import type { Driver, DriverEvents, SendOptions, SubscriptionKind } from '#src/engine/driver.js'
import type { MemoryDriver } from '#src/engine/memory/driver.js'
import type { Arg, Reply } from '#src/lua/values.js'

/** The embedded server, behind something that changes what it answers. */
export class StrangeDriver implements Driver {
  readonly address = 'memory:strange'
  readonly cluster = false
  /** What becomes of a reply. */
  changes: (argv: readonly Arg[], reply: Reply) => Reply = (_argv, reply) => reply
  readonly #driver: MemoryDriver

  constructor(driver: MemoryDriver) {
    this.#driver = driver
  }

  get isUp(): boolean {
    return this.#driver.isUp
  }

  open(events: DriverEvents): Promise<void> {
    return this.#driver.open(events)
  }

  async send(argv: readonly Arg[], options?: SendOptions): Promise<Reply> {
    return this.changes(argv, await this.#driver.send(argv, options))
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
