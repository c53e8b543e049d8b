import type { Attempt, LockProtocol } from './protocol.js'

/** A lock that many owners hold at a time. */
export interface ReadProtocol extends LockProtocol {
  /** For all of them or for none. Under a write by `writer` it is had whatever else is so. */
  acquireAll(
    owners: readonly (readonly [owner: string, lease: number])[],
    waits: boolean,
    writer?: string,
  ): Promise<Attempt>
  /** Under which name who writes reads. */
  readerOf(writer: string): string
}
