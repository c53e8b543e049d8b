import type { LineProtocol } from './line-protocol.js'
import type { Attempt } from './protocol.js'

/** A lock that many owners hold at a time. */
export interface ReadProtocol extends LineProtocol {
  /** Under a write by `writer`, whoever waits. */
  readUnder(writer: string, owner: string, lease: number): Promise<Attempt>
  /** Under which name who writes reads. */
  readerOf(writer: string): string
}
