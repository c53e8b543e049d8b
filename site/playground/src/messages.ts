import type { Arg, Reply } from '#src/lua/values.js'
import type { Message, SubscriptionKind } from '#src/engine/driver.js'

/** What the network does between each process and the server. */
export interface Weather {
  /** ms, each way. */
  readonly delay: number
  /** The part of the server's messages that is lost, 0 to 1. */
  readonly drop: number
}

/** From a process to the server. */
export type Question =
  | { readonly id: number; readonly argv: readonly Arg[]; readonly binary: boolean }
  | { readonly id: number; readonly subscribe: string; readonly kind: SubscriptionKind }
  | { readonly id: number; readonly unsubscribe: string; readonly kind: SubscriptionKind }
  | { readonly id: number; readonly write: string; readonly token: bigint }

/** From the server to a process. */
export type Answer =
  | { readonly id: number; readonly reply: Reply }
  | { readonly id: number; readonly error: string }
  | { readonly message: Message }

/** From the page to the server. */
export type ToServer =
  { readonly join: string; readonly port: MessagePort } | { readonly gone: string } | { readonly weather: Weather }

/** From the page to a process. */
export type ToProcess =
  { readonly start: string; readonly port: MessagePort; readonly lease: number } | { readonly pause: number }

export type Step = 'wait' | 'grant' | 'end' | 'release' | 'lost' | 'say' | 'failed' | 'paused' | 'resumed'

/** From a process, or the server's storage, to the page. */
export interface Report {
  readonly step: Step | 'written' | 'refused'
  readonly id?: number | undefined
  readonly hold?: number | undefined
  /** `release`: why the hold ended. */
  readonly outcome?: string | undefined
  readonly text?: string | undefined
  readonly process?: string | undefined
}
