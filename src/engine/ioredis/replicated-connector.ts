import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { AbstractConnector, Redis, type RedisOptions } from 'ioredis'
import type { Clock } from '../../base/clock.js'
import type { Node } from '../endpoint.js'
import { errorOf, partOf } from '../../thrown.js'
import { pauses } from './reconnect-pauses.js'

type Options = Omit<RedisOptions, 'replyMapping'>

/**
 * A connector to the node that says it is the master. Each time it connects, it asks all nodes. The first connect fails if none of them is the master.
 * Later, it asks until one is, because ioredis ends a client whose connector fails.
 */
export const connectorTo = (nodes: readonly Node[], clock: Clock): new (options: unknown) => AbstractConnector =>
  class extends AbstractConnector {
    readonly #options: Options
    #found = false

    constructor(options: unknown) {
      const known = options as Options & { readonly disconnectTimeout: number }
      super(known.disconnectTimeout)
      this.#options = known
    }

    override async connect(tell: (event: string, error: Error) => void): Promise<Socket> {
      this.connecting = true
      const { tls } = this.#options
      const master = await this.#master(tell)
      if (this.#isOver()) throw new Error('closed')
      const stream = tls === undefined ? connectPlain({ ...master }) : connectTls({ ...master, ...tls })
      stream.once('error', (error: unknown) => (this.firstError = errorOf(error)))
      this.stream = stream
      return stream
    }

    async #master(tell: (event: string, error: Error) => void): Promise<Node> {
      const pause = pauses(clock)
      for (let attempt = 1; ; attempt++) {
        try {
          const master = await masterOf(nodes, this.#options)
          this.#found = true
          return master
        } catch (error) {
          if (!this.#found || this.#isOver()) throw error
          tell('error', errorOf(error))
          await new Promise<void>((resolve) => void clock.setTimer(resolve, pause(attempt), { background: true }))
          if (this.#isOver()) throw error
        }
      }
    }

    /** It was stopped meanwhile. */
    #isOver(): boolean {
      return !this.connecting
    }
  }

const masterOf = async (nodes: readonly Node[], options: Options): Promise<Node> => {
  const asked = nodes.map(async (node) => ((await isMaster(node, options)) ? node : Promise.reject(NO_MASTER)))
  try {
    return await Promise.any(asked)
  } catch (error) {
    // The error of one node says more than "none of them is the master".
    const errors = partOf(error, 'errors') as readonly Error[]
    throw errors.find((one) => one !== NO_MASTER) ?? NO_MASTER
  }
}

const NO_MASTER = new Error('none of the nodes is a master')

/** Asks the same way as Redisson. */
const isMaster = async (node: Node, options: Options): Promise<boolean> => {
  const bare = { Connector: undefined, db: 0, lazyConnect: true, enableReadyCheck: false, retryStrategy: null }
  const client = new Redis({ ...options, ...bare, ...node, enableOfflineQueue: true })
  let last: Error | undefined
  client.on('error', (error) => (last = error))
  try {
    await client.connect()
    return (await client.info('replication')).includes('role:master')
  } catch (error) {
    throw last ?? error
  } finally {
    client.disconnect()
  }
}
