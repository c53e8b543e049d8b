import type { Arg, Reply } from '../lua/values.js'

/**
 * The seam between holdfast and a server. A driver is one way to reach a server: it sends a command and hears messages,
 * nothing more. What holds for all of them (script cache, reply time-outs, open and close) is above it, once, in `link.ts` and its parts.
 */

export interface SendOptions {
  /** Bulk strings of the reply as bytes instead of text. */
  readonly binary?: boolean | undefined
  /** A key whose slot decides the node. Commands of one route leave in the order of the calls. */
  readonly route?: string | undefined
  /** Only reads, so a replica may answer where the topology has some. */
  readonly readOnly?: boolean | undefined
  /** The node itself, as `nodeOf` and `redirected` name it; one that is not known is not sent to. */
  readonly node?: string | undefined
  /** Told which node the command was sent on to, by one that has its key no more or is handing it over. */
  readonly redirected?: ((node: string) => void) | undefined
  /** The object whose name an error shall carry. */
  readonly target?: string | undefined
  /** Aborted: what is not sent yet is not sent any more. */
  readonly signal?: AbortSignal | undefined
}

/**
 * `all`: replicas too. `apart`: masters, on connections made for this command, so that it does not stand behind a script
 * that does not end.
 */
export type Nodes = 'masters' | 'all' | 'apart'

/** SUBSCRIBE, SSUBSCRIBE, PSUBSCRIBE. */
export type SubscriptionKind = 'plain' | 'sharded' | 'pattern'

/** What a subscription brought. */
export interface Message {
  readonly kind: SubscriptionKind
  /** What was subscribed to: the channel, or the pattern that it fits. */
  readonly name: string
  readonly channel: string
  readonly payload: Uint8Array
}

/** What a driver tells. All are called in the order in which things happened. */
export interface DriverEvents {
  message(message: Message): void
  /** Commands can be sent (again); `again` is false for the first time. */
  up(again: boolean): void
  /** Commands sent and not answered will not be answered any more. */
  down(reason: Error): void
  /** Other nodes have some of the keys by now, or answer for them anew. */
  moved(): void
  /** Which answer belongs to which command is not known any more. */
  outOfStep(reason: Error): void
  /** Messages may have been missed on all channels; all are subscribed again. */
  gap(): void
  /** One that could not be subscribed again. */
  unheard(kind: SubscriptionKind, name: string): void
  error(error: Error): void
}

/** A connection that its driver replaces when it is dropped: a socket, or what stands for one. */
export interface Connection {
  readonly bytesRead: number
  destroy(why: Error): unknown
}

export interface Driver {
  /** For people: the address without any secret. */
  readonly address: string
  readonly cluster: boolean
  readonly isUp: boolean
  /** Connects; resolves when commands can be sent, rejects when nothing answers. */
  open(events: DriverEvents): Promise<void>
  /** What is behind a failure of the first connection; undefined: no more is known. */
  explain?(failure: Error): Promise<string | undefined>
  /**
   * Sends one command now and resolves with its reply. Rejects with the server's own error (its text as the message),
   * or with a `NoReply` when it is unknown whether the command ran, or with `NotSent` when it surely did not.
   */
  send(argv: readonly Arg[], options?: SendOptions): Promise<Reply>
  /** Where there are several: which has this key, as far as is known; its commands are answered in their order. */
  nodeOf?(route: string): string | undefined
  /** Sends one command to each of the nodes; without it there is one, and `send` does. */
  everywhere?(argv: readonly Arg[], nodes: Nodes): Promise<Reply>[]
  /** Resolves when the server has confirmed. */
  subscribe(name: string, kind: SubscriptionKind): Promise<void>
  unsubscribe(name: string, kind: SubscriptionKind): Promise<void>
  /** Connections of ours on which the server owes an answer. */
  owing?(): Connection[]
  /** Asks something on each connection that brings only messages: a dead one shows by its silence. */
  pulse?(): Promise<unknown>[]
  /** Drops all connections of ours and makes them anew: what they lead to is not what it was. */
  reconnect?(): void
  /** The connection for commands is the caller's: only the caller can replace it. */
  readonly lent?: boolean
  /** Ends what `open` opened. Unanswered commands reject. */
  close(): Promise<void>
}

/** Where a node of a cluster says that a command belongs. */
export const redirection = (error: string): string | undefined => /^(?:MOVED|ASK) \d+ (\S+)/.exec(error)?.[1]

/** The command left, and no answer will come: it may have run, may run late, or may never run. */
export class NoReply extends Error {
  override readonly name = 'NoReply'
}

/** The command never left this process. */
export class NotSent extends Error {
  override readonly name = 'NotSent'
}
