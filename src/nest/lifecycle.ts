import { Logger } from '@nestjs/common'
import type { Client } from '../api/client.js'
import type { Term } from '../api/election.js'
import { systemClock } from '../base/clock.js'
import { within } from '../base/time-limit.js'
import { textOf } from '../thrown.js'
import { type LeaderNote, leaderNoteOf } from './leader.js'
import { runOnceNoteOf } from './run-once.js'
import type { Method } from './wrap-method.js'

/** The part of Nest's DiscoveryService that is used. */
export interface Discovery {
  getProviders(): readonly Discovered[]
  getControllers(): readonly Discovered[]
}

interface Discovered {
  readonly instance: unknown
  /** The class, or the factory. */
  readonly metatype: unknown
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

const objectsOf = (all: readonly unknown[]): Set<object> =>
  new Set(all.filter((one): one is object => typeof one === 'object' && one !== null))

const allOf = (discovery: Discovery): Discovered[] => [...discovery.getProviders(), ...discovery.getControllers()]

const instancesOf = (discovery: Discovery): Set<object> =>
  objectsOf(
    allOf(discovery)
      .filter((wrapper) => wrapper.isDependencyTreeStatic())
      .map(({ instance }) => instance),
  )

/** The names of the `@Leader` methods whose class has an instance for each request. */
const requestScoped = (client: string | undefined, discovery: Discovery): string[] => {
  const others = allOf(discovery).filter((wrapper) => !wrapper.isDependencyTreeStatic())
  const prototypes = others.map(({ metatype }) =>
    typeof metatype === 'function' ? (metatype.prototype as unknown) : undefined,
  )
  const notes = [...objectsOf(prototypes)].flatMap((its) => methodsOf(Object.create(its) as object).map(leaderNoteOf))
  return notes.flatMap((note) => (note?.client === client && note !== undefined ? [note.name] : []))
}

/** Rejects if a `@RunOnce` method of this client can never run. */
const checkJobs = async (client: string | undefined, discovery: Discovery): Promise<void> => {
  const notes = [...instancesOf(discovery)].flatMap((instance) => methodsOf(instance).map(runOnceNoteOf))
  await Promise.all(notes.flatMap((note) => (note !== undefined && note.client === client ? [note.check()] : [])))
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

const leader = (name: string): string => `@Leader(${JSON.stringify(name)})`

/** Nest calls its hooks. */
export class Lifecycle {
  readonly #options: LifecycleOptions
  readonly #ending = new AbortController()
  readonly #logger = new Logger('Holdfast')
  #leading: readonly Promise<void>[] = []
  #waiting: Promise<void> | undefined

  constructor(options: LifecycleOptions) {
    this.#options = options
  }

  async onApplicationBootstrap(): Promise<void> {
    const { name, discovery } = this.#options
    await checkJobs(name, discovery)
    for (const one of requestScoped(name, discovery))
      this.#logger.warn(`${leader(one)} never leads: its class is request-scoped`)
    this.#leading = candidatesFor(name, discovery).map((one) => this.#lead(one))
  }

  /** Another process can lead before this one has answered its last requests. */
  async beforeApplicationShutdown(): Promise<void> {
    this.#ending.abort()
    if (!this.#options.isOwn) await this.#ended()
  }

  /** The servers of the app are closed by now. */
  async onApplicationShutdown(): Promise<void> {
    const { client, drain, isOwn } = this.#options
    const ended = this.#ended()
    if (isOwn) await client.close({ drain })
    await ended
  }

  /** Waits `drain` for the work of the leaders, once. */
  #ended(): Promise<void> {
    return (this.#waiting ??= this.#waitForAll())
  }

  async #waitForAll(): Promise<void> {
    const all = Promise.all(this.#leading).then(() => true)
    if ((await within(systemClock, this.#options.drain, all)) === undefined)
      this.#logger.warn('a @Leader method still runs, although its signal has aborted: the shutdown goes on without it')
  }

  async #lead({ note: { name, options }, work }: Candidate): Promise<void> {
    try {
      await this.#options.client.election(name).lead({ ...options, signal: this.#ending.signal }, work)
    } catch (error) {
      this.#logger.error(`${leader(name)} has ended: ${textOf(error)}`)
    }
  }
}
