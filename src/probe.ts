import type { Client } from './api/client.js'
import type { Runtime } from './core/client/runtime.js'
import { clockOff, readInfo, type ServerFacts } from './core/server/server-facts.js'
import { presenceKey } from './keys.js'
import { digits, either, integer, many, nil, type Shape, text, tuple } from './lua/reply-shape.js'
import { plainMessage } from './plain-text.js'

export { CLOCK_OFF } from './core/server/server-facts.js'

/** A master, as the client's driver names it; undefined: there is only one server. */
export type Node = string | undefined

/** Questions to the servers of a client, for the command line. Each may reject with an `EngineError`. */
export interface Probe {
  /** Without any secret. */
  readonly address: string
  readonly cluster: boolean
  readonly masters: readonly Node[]
  /** Whether acquisitions wait for replicas. */
  readonly awaitsReplicas: boolean
  /** Whether releases are published on the node that has the key. */
  readonly sharded: boolean
  /** Those of the client's warnings that are not about its server. */
  readonly otherWarnings: readonly string[]
  /** The key of this client's label. */
  readonly labelKey: string
  /** The key of the label of this client. */
  labelKeyOf(client: string): string
  /** A command that is answered by a text. */
  text(argv: readonly string[], node: Node): Promise<string>
  /** A command that is answered by a list of texts. */
  texts(argv: readonly string[], node: Node): Promise<readonly string[]>
  /** INFO, by its fields. */
  info(node: Node): Promise<ReadonlyMap<string, string>>
  /** How many ms the server's clock is ahead of this machine's. */
  clockOff(node: Node): Promise<number>
  /** Rejects with the code `NOPERM` if this user may not read the labels of clients. */
  readLabel(): Promise<unknown>
  /** The label of this client. */
  labelOf(client: string): Promise<LabelState>
}

/** The label of a client. */
export interface LabelState {
  /** As it is on the server. */
  readonly text: string | null
  /** How many ms are left until it expires; negative: it is gone, or does not expire. */
  readonly left: number
}

const probes = new WeakMap<Client, Probe>()

/** Undefined: another copy of this package has made it, or it is wrapped. */
export const findProbe = (client: Client): Probe | undefined => probes.get(client)

export const probeOf = (client: Client): Probe => {
  const probe = findProbe(client)
  if (probe === undefined) throw new TypeError('the client is not one that connect has made')
  return probe
}

/** Returns the client, which can be probed from now on. */
export const withProbe = (client: Client, runtime: Runtime, facts: ServerFacts): Client => {
  probes.set(client, new RuntimeProbe(client, runtime, facts))
  return client
}

class RuntimeProbe implements Probe {
  readonly otherWarnings: readonly string[]
  readonly labelKey: string
  readonly #runtime: Runtime

  constructor({ id, warnings }: Client, runtime: Runtime, facts: ServerFacts) {
    const ofServer = new Set(facts.warnings.map(plainMessage))
    this.otherWarnings = warnings.filter((warning) => !ofServer.has(warning))
    this.#runtime = runtime
    this.labelKey = this.labelKeyOf(id)
  }

  get address(): string {
    return this.#runtime.link.address
  }

  get cluster(): boolean {
    return this.#runtime.link.cluster
  }

  get masters(): readonly Node[] {
    return this.#runtime.link.masters
  }

  get awaitsReplicas(): boolean {
    return this.#runtime.options.replicas.sync
  }

  get sharded(): boolean {
    return this.#runtime.sharded
  }

  labelKeyOf(client: string): string {
    return this.#runtime.keyOf(presenceKey(client))
  }

  text(argv: readonly string[], node: Node): Promise<string> {
    return this.#ask(argv, text, node)
  }

  texts(argv: readonly string[], node: Node): Promise<readonly string[]> {
    return this.#ask(argv, many(text), node)
  }

  async info(node: Node): Promise<ReadonlyMap<string, string>> {
    return readInfo(await this.text(['INFO'], node))
  }

  async clockOff(node: Node): Promise<number> {
    const { clock } = this.#runtime.options
    const before = clock.now()
    return clockOff(await this.#ask(['TIME'], tuple(digits, digits), node), before, clock.now())
  }

  readLabel(): Promise<string | null> {
    const { link } = this.#runtime
    return this.#runtime.untilClosed(() =>
      link.command(['GET', this.labelKey], either(text, nil), { route: this.labelKey }),
    )
  }

  labelOf(client: string): Promise<LabelState> {
    const { link } = this.#runtime
    const route = this.#runtime.keyOf(presenceKey(client))
    return this.#runtime.untilClosed(async () => {
      const left = await link.command(['PTTL', route], integer, { route })
      return { text: await link.command(['GET', route], either(text, nil), { route }), left }
    })
  }

  #ask<R>(argv: readonly string[], fits: Shape<R>, node: Node): Promise<R> {
    return this.#runtime.untilClosed(() => this.#runtime.link.command(argv, fits, { node }))
  }
}
