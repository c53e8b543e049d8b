import type { Connection } from '../driver.js'

/** A node of a cluster. node-redis does not show its socket, so this counts answers instead of bytes. */
interface Node extends Connection {
  bytesRead: number
  asked: number
}

/**
 * The nodes of the caller's cluster client that owe answers. node-redis asks a node that has become silent for ever, even when the cluster
 * has another master for its slots.
 */
export class OverdueNodes {
  readonly #nodes = new Map<string, Node>()
  readonly #silent: (address: string) => void

  constructor(silent: (address: string) => void) {
    this.#silent = silent
  }

  async ask<T>(address: string, send: () => Promise<T>): Promise<T> {
    const node: Node = this.#nodes.get(address) ?? {
      ...{ bytesRead: 0, asked: 0 },
      destroy: () => {
        this.#silent(address)
      },
    }
    this.#nodes.set(address, node)
    node.asked++
    try {
      return await send()
    } finally {
      node.bytesRead++
      if (--node.asked === 0) this.#nodes.delete(address)
    }
  }

  owing(): Connection[] {
    return [...this.#nodes.values()]
  }
}
