import type { LineProtocol } from '../../core/protocol/line-protocol.js'

/** The writing side of a lock that others may read. */
export interface WriteProtocol extends LineProtocol {
  /** Ends all reads, or the write, and lets this owner write, even if others wait. */
  steal(owner: string, lease: number): Promise<number>
}
