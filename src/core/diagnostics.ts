import { channel } from 'node:diagnostics_channel'

/** What is told on `holdfast:<event>` of node:diagnostics_channel: enough to measure waits and holds from outside. */
export interface DiagnosticMessage {
  /** The client's id. */
  readonly client: string
  /** `lock`, `nonReentrantLock`… */
  readonly kind: string
  readonly name: string
  /** The owner as the server knows it; none before it is granted. */
  readonly owner?: string
  /** `grant`: ms from the call to the hold. `release`: ms from the grant on the server. */
  readonly elapsed?: number
  /** `grant`: passed on within the process, without the server. */
  readonly local?: boolean
  /** `lost`: why. */
  readonly error?: Error
}

/**
 * `acquire`: a call begins. `wait`: it was not had at once. `grant`: it was had. `renew`: the server gave a full lease.
 * `lost`, `release`: how it ended.
 */
export type DiagnosticEvent = 'acquire' | 'wait' | 'grant' | 'renew' | 'lost' | 'release'

const channels = {
  acquire: channel('holdfast:acquire'),
  wait: channel('holdfast:wait'),
  grant: channel('holdfast:grant'),
  renew: channel('holdfast:renew'),
  lost: channel('holdfast:lost'),
  release: channel('holdfast:release'),
}

/** Builds the message only when somebody listens. */
export const tell = (event: DiagnosticEvent, message: () => DiagnosticMessage): void => {
  const to = channels[event]
  if (to.hasSubscribers) to.publish(message())
}
