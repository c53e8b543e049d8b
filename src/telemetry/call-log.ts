import type { DiagnosticMessage } from '../api/diagnostics.js'
import { plainText } from '../plain-text.js'
import { listen } from './events.js'
import type { Write } from './log-style.js'

/** Writes a line for the end of each call of these clients, and of each hold. Returns what stops that. */
export const logCalls = (clients: ReadonlySet<string>, write: Write): (() => void) => {
  const line = (text: string) => (message: DiagnosticMessage) => {
    const { client, kind, name, elapsed, outcome, local } = message
    if (!clients.has(client)) return
    const ms = elapsed === undefined ? undefined : Math.round(elapsed)
    write('debug', text, { client, kind, lock: plainText(name), ms, outcome, local })
  }
  return listen({ grant: line('acquired'), end: line('not acquired'), release: line('a hold ended') })
}
