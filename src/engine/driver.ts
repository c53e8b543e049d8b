import type { Arg, Reply } from '../lua/values.js'

/**
 * The boundary between holdfast and a server. A driver is one way to reach a server: it sends a command and receives messages, nothing
 * more. What all drivers share (script cache, reply timeouts, open and close) is implemented once, above them, in `link.ts` and its
 * parts.
 */

export interface SendOptions {
  /** Returns the bulk strings of the reply as bytes instead of text. */
  readonly binary?: boolean | undefined
  /** A key whose slot decides the node. Commands with the same route leave in the order of the calls. */
  readonly route?: string | undefined
  /** The command only reads, so a replica may answer if the topology has some. */
  readonly readOnly?: boolean | undefined
  /** The node to send to, as `nodeOf` and `redirected` name it. A command for an unknown node is not sent. */
  readonly node?: string | undefined
  /** Called with the node that the command was redirected to, if the first node no longer has the key or is handing it over. */
  readonly redirected?: ((node: string) => void) | undefined
  /** The name of the object that an error should mention. */
  readonly target?: string | undefined
  /** If this is aborted before the command is sent, the command is not sent at all. */
  readonly signal?: AbortSignal | undefined
}

/**
 * `all`: replicas, too. `apart`: masters, on connections made for this command only, so that it does not wait behind a script that does
 * not end.
 */
export type Nodes = 'masters' | 'all' | 'apart'

/** SUBSCRIBE, SSUBSCRIBE, PSUBSCRIBE. */
export type SubscriptionKind = 'plain' | 'sharded' | 'pattern'

/** A message that a subscription received. */
export interface Message {
  readonly kind: SubscriptionKind
  /** The name subscribed to: the channel, or the pattern that it matches. */
  readonly name: string
  readonly channel: string
  readonly payload: Uint8Array
}

/** The events of a driver, called in the order in which things happened. */
export interface DriverEvents {
  message(message: Message): void
  /** Commands can be sent (again); `again` is false for the first time. */
  up(again: boolean): void
  /** Commands that were sent and not answered will get no reply any more. */
  down(reason: Error): void
  /** Some keys are on other nodes now, or a node that has them was restarted. */
  moved(): void
  /** It is no longer known which reply belongs to which command. */
  outOfStep(reason: Error): void
  /** Messages may have been missed on all channels. All are subscribed again. */
  gap(): void
  /** A channel could not be subscribed again. */
  unheard(kind: SubscriptionKind, name: string): void
  error(error: Error): void
}

/** A connection that its driver replaces if it is dropped: a socket, or an object that acts as one. */
export interface Connection {
  readonly bytesRead: number
  destroy(why: Error): unknown
}

export interface Driver {
  /** The address to show to people, without any secret. */
  readonly address: string
  readonly cluster: boolean
  readonly isUp: boolean
  /** Connects. Resolves when commands can be sent; rejects if no server answers. */
  open(events: DriverEvents): Promise<void>
  /** Explains why the first connection failed; undefined: nothing more is known. */
  explain?(failure: Error): Promise<string | undefined>
  /**
   * Sends one command now and resolves with its reply. Rejects with the server's own error (its text as the message), with a `NoReply` if
   * it is unknown whether the command ran, or with `NotSent` if it surely did not run.
   */
  send(argv: readonly Arg[], options?: SendOptions): Promise<Reply>
  /** If there are several nodes: the one that has this key, as far as is known. It answers the key's commands in order. */
  nodeOf?(route: string): string | undefined
  /** If there are several nodes: the masters, by names that `node` of a command takes. */
  masters?(): readonly string[]
  /** Sends one command to each of the nodes. A driver without it has one node, and `send` is enough. */
  everywhere?(argv: readonly Arg[], nodes: Nodes): Promise<Reply>[]
  /** Resolves when the server has confirmed the subscription. */
  subscribe(name: string, kind: SubscriptionKind): Promise<void>
  unsubscribe(name: string, kind: SubscriptionKind): Promise<void>
  /** The connections made by holdfast on which a reply is outstanding. */
  owing?(): Connection[]
  /** Sends a question on each connection that only receives messages. A dead connection does not answer it. */
  pulse?(): Promise<unknown>[]
  /** Drops all connections made by holdfast and connects again, because they lead to the wrong server or are out of step. */
  reconnect?(): void
  /** The connection for commands belongs to the caller, and only the caller can replace it. */
  readonly lent?: boolean
  /** Closes what `open` opened. Unanswered commands reject. */
  close(): Promise<void>
}

/** The node that a cluster's error redirects the command to. */
export const redirection = (error: string): string | undefined => /^(?:MOVED|ASK) \d+ (\S+)/.exec(error)?.[1]

/** The command left, but no reply will come. It may have run, may run late, or may never run. */
export class NoReply extends Error {
  override readonly name = 'NoReply'
}

/** The command never left this process. */
export class NotSent extends Error {
  override readonly name = 'NotSent'
}
