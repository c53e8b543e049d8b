import { Logger } from '@nestjs/common'
import type { Client } from '../api/client.js'
import type { Term } from '../api/election.js'
import { textOf } from '../thrown.js'
import { type LeaderNote, leaderNoteOf } from './leader.js'
import type { Method } from './wrap-method.js'

/** The part of Nest's DiscoveryService that is used. */
export interface Discovery {
  getProviders(): readonly Discovered[]
  getControllers(): readonly Discovered[]
}

interface Discovered {
  readonly instance: unknown
  isDependencyTreeStatic(): boolean
}

interface Candidate {
  readonly note: LeaderNote
  readonly work: (term: Term) => unknown
}

/** An instance's prototypes, the nearest first. */
const levelsOf = (instance: object): object[] => {
  const levels: object[] = []
  for (let level: unknown = Object.getPrototypeOf(instance); level !== Object.prototype;) {
    if (typeof level !== 'object' || level === null) break
    levels.push(level)
    level = Object.getPrototypeOf(level)
  }
  return levels
}

/** The methods of an instance, with those that it inherits. Getters are not read. */
const methodsOf = (instance: object): Method[] => {
  const found = new Map<PropertyKey, unknown>()
  for (const level of levelsOf(instance))
    for (const key of Reflect.ownKeys(level))
      if (!found.has(key)) found.set(key, Object.getOwnPropertyDescriptor(level, key)?.value)
  return [...found.values()].filter((value): value is Method => typeof value === 'function')
}

const instancesOf = (discovery: Discovery): Set<object> => {
  const all = [...discovery.getProviders(), ...discovery.getControllers()]
  const made = all.filter((wrapper) => wrapper.isDependencyTreeStatic()).map(({ instance }) => instance)
  return new Set(made.filter((instance): instance is object => typeof instance === 'object' && instance !== null))
}

/** The methods with `@Leader` for this client. A provider that several modules have counts once. */
const candidatesFor = (client: string | undefined, discovery: Discovery): Candidate[] =>
  [...instancesOf(discovery)].flatMap((instance) =>
    methodsOf(instance).flatMap((method) => {
      const note = leaderNoteOf(method)
      if (note === undefined || note.client !== client) return []
      return [{ note, work: (term: Term): unknown => Reflect.apply(method, instance, [term]) }]
    }),
  )

/** How a client lives in an app: its candidates begin with the app, and it closes with it. */
export interface LifecycleOptions {
  readonly client: Client
  readonly name: string | undefined
  readonly discovery: Discovery
  readonly drain: number
  /** Whether the module opened the client. */
  readonly isOwn: boolean
}

/** Nest calls its hooks. */
export class Lifecycle {
  readonly #options: LifecycleOptions
  readonly #ending = new AbortController()
  readonly #logger = new Logger('Holdfast')
  #leading: readonly Promise<void>[] = []

  constructor(options: LifecycleOptions) {
    this.#options = options
  }

  onApplicationBootstrap(): void {
    this.#leading = candidatesFor(this.#options.name, this.#options.discovery).map((one) => this.#lead(one))
  }

  /** Another process can lead before this one has answered its last requests. */
  async beforeApplicationShutdown(): Promise<void> {
    this.#ending.abort()
    if (!this.#options.isOwn) await Promise.all(this.#leading)
  }

  /** The servers of the app are closed by now. */
  async onApplicationShutdown(): Promise<void> {
    const { client, drain, isOwn } = this.#options
    if (isOwn) await client.close({ drain })
    await Promise.all(this.#leading)
  }

  async #lead({ note: { name, options }, work }: Candidate): Promise<void> {
    try {
      await this.#options.client.election(name).lead({ ...options, signal: this.#ending.signal }, work)
    } catch (error) {
      this.#logger.error(`@Leader(${JSON.stringify(name)}) has ended: ${textOf(error)}`)
    }
  }
}
