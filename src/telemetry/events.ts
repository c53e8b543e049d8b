import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { DeadlockMessage, DiagnosticEvent, DiagnosticMessage, ReconnectMessage } from '../api/diagnostics.js'
import { tell, textOf } from '../thrown.js'

/** The messages of all events. */
export interface Messages extends Record<DiagnosticEvent, DiagnosticMessage> {
  reconnect: ReconnectMessage
  deadlock: DeadlockMessage
}

export type Listeners = { readonly [E in keyof Messages]?: (message: Messages[E]) => void }

/** Values by the number of a call or a hold, which is unique in its client only. */
export class ByNumber<V> {
  readonly #all = new Map<string, Map<number, V>>()
  /** The client that was served last, and its map, which stays when it is empty, because it will be used again soon. */
  #last: string | undefined
  #ofLast = new Map<number, V>()

  set(client: string, number: number, value: V): void {
    if (client !== this.#last) this.#serve(client)
    this.#ofLast.set(number, value)
  }

  get(client: string, number: number | undefined): V | undefined {
    return this.#of(client)?.get(number as number)
  }

  /** Forgets it. Returns what it was. */
  take(client: string, number: number | undefined): V | undefined {
    const ofClient = this.#of(client)
    const value = ofClient?.get(number as number)
    if (ofClient === undefined || value === undefined) return undefined
    ofClient.delete(number as number)
    if (ofClient.size === 0 && client !== this.#last) this.#all.delete(client)
    return value
  }

  /** How many clients have something here, or had it last. */
  get clients(): number {
    return this.#all.size
  }

  /** Forgets all of them. Returns what they were. */
  takeAll(): V[] {
    const values = [...this.#all.values()].flatMap((ofClient) => [...ofClient.values()])
    this.#all.clear()
    this.#last = undefined
    this.#ofLast = new Map()
    return values
  }

  #of(client: string): Map<number, V> | undefined {
    return client === this.#last ? this.#ofLast : this.#all.get(client)
  }

  #serve(client: string): void {
    if (this.#last !== undefined && this.#ofLast.size === 0) this.#all.delete(this.#last)
    this.#last = client
    this.#ofLast = this.#all.get(client) ?? new Map<number, V>()
    this.#all.set(client, this.#ofLast)
  }
}

/** Ends what was started. You may call it twice. */
export type Stop = (() => void) & Disposable

/** Runs all steps, even if one of them throws. */
const runAll = ([step, ...others]: readonly (() => void)[]): void => {
  if (step === undefined) return
  try {
    step()
  } finally {
    runAll(others)
  }
}

export const stopOf = (...steps: readonly (() => void)[]): Stop => {
  let stopped = false
  const stop = (): void => {
    if (stopped) return
    stopped = true
    runAll(steps)
  }
  return Object.assign(stop, { [Symbol.dispose]: stop })
}

/** Takes the next step. If that fails, it stops what has been started before. */
export const orStop = <T>(stop: () => void, step: () => T): T => {
  try {
    return step()
  } catch (thrown) {
    tell(stop, () => undefined)
    throw thrown
  }
}

/** An exporter that throws must not stop the locks, nor end the process. */
const guarded = (listener: (message: never) => void): ((message: unknown) => void) => {
  let warned = false
  return (message) => {
    try {
      listener(message as never)
    } catch (thrown) {
      if (!warned) process.emitWarning(`holdfast: telemetry failed: ${textOf(thrown)}`)
      warned = true
    }
  }
}

/** Listens to events of all clients of this process. */
export const listen = (listeners: Listeners): (() => void) => {
  const all = Object.entries(listeners).map(
    ([event, listener]) => [`holdfast:${event}`, guarded(listener as (message: never) => void)] as const,
  )
  for (const [channel, listener] of all) subscribe(channel, listener)
  return () => {
    for (const [channel, listener] of all) unsubscribe(channel, listener)
  }
}
