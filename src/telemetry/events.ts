import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { DeadlockMessage, DiagnosticEvent, DiagnosticMessage, ReconnectMessage } from '../api/diagnostics.js'
import { textOf } from '../thrown.js'

/** The messages of all events. */
export interface Messages extends Record<DiagnosticEvent, DiagnosticMessage> {
  reconnect: ReconnectMessage
  deadlock: DeadlockMessage
}

export type Listeners = { readonly [E in keyof Messages]?: (message: Messages[E]) => void }

/** A number of a call is unique in its client only. */
export const callOf = ({ client, id }: DiagnosticMessage): string => `${client}:${id ?? ''}`

/** Ends what was started. You may call it twice. */
export type Stop = (() => void) & Disposable

export const stopOf = (...steps: readonly (() => void)[]): Stop => {
  let stopped = false
  const stop = (): void => {
    if (stopped) return
    stopped = true
    for (const step of steps) step()
  }
  return Object.assign(stop, { [Symbol.dispose]: stop })
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
