import type { LineProtocol } from '../../core/protocol/line-protocol.js'
import type { Attempt } from '../../core/protocol/lock-protocol.js'

/** A lock that many owners may hold at a time. */
export interface ReadProtocol extends LineProtocol {
  /** Reads under a write by `writer`, even if others wait. */
  readUnder(writer: string, owner: string, lease: number): Promise<Attempt>
  /** The wire name under which a writer reads. */
  readerOf(writer: string): string
}
