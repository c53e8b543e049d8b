import type { Kind, Load } from '../base/load.js'

export interface Held {
  release(): Promise<unknown>
}

export interface Contender {
  /** Each call is an owner of its own. */
  acquire(): Promise<Held>
}

/** What one process has: one client, as its documentation would set it up. */
export interface Session {
  /** `places`: how many may have it at once; 1 for all but a semaphore. Of a limiter: how many permits a second. */
  lock(kind: Kind, name: string, places?: number): Contender
  /** A lock that is renewed, where that is another call. */
  kept?(name: string): Contender
  /** How often it has told of a hold that was lost or in doubt. */
  troubles(): number
  /** How often it has told of a hold that was lost, where `troubles` counts doubts, too. */
  lost?(): number
  /** Whether its caller would think it held. */
  intact(held: Held): boolean
  close(): Promise<void> | void
}

/** One process, or what stands for it: answers each message. */
export interface Member {
  ask(message: string | object, limit?: number): Promise<unknown>
  end(): Promise<void>
  /** At once, whatever it does. */
  kill(): Promise<void>
}

/** One row of the tables. A file in this folder and a line in participants.ts. */
export interface Participant {
  readonly name: string
  /** Rows of one family are one library in several settings: the best of them counts. */
  readonly family: string
  readonly file: string
  /** Works as another one does, or is another setting of it: a quick run leaves it out. */
  readonly variant?: boolean
  /** How it is set up, and where its documents say so. */
  readonly setup: string
  readonly kinds: readonly Kind[]
  /** Whether acquire waits for a lock that is taken. */
  readonly waits: boolean
  readonly memory: boolean
  /** Whether it renews what is held. */
  readonly renews: boolean
  /** What `lock` writes on the server. */
  keyOf(name: string): string
  /** Commands that it sends by themselves and none of its scripts calls, beside those that no script can call. */
  readonly direct: readonly string[]
  /** Undefined: not installed. */
  version(): string | undefined
  /** Why it is not, where npm is not the reason. */
  readonly missing?: string
  /** Where its processes are none of Node: one that works as processes/worker.ts does. */
  readonly start?: (url: string, load: Load, names: readonly string[]) => Promise<Member>
  /** `lease`: ms, 30 s unless told. `pollMs`: after how many ms one that polls asks again, 1 unless told. */
  open(url: string, lease?: number, pollMs?: number): Promise<Session> | Session
}

/** Why it cannot do what the load says; undefined: it can. */
export const whyNot = (participant: Participant, load: Load): string | undefined => {
  if (participant.version() === undefined) return participant.missing ?? 'not installed'
  if (!participant.kinds.includes(load.kind)) return `has no ${load.kind}`
  if (load.engine === 'memory' && !participant.memory) return 'needs a server'
  if (load.names === 'one' && load.processes * load.callers > 1 && !participant.waits) return 'does not wait'
  return undefined
}
