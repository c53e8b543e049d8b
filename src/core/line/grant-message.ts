import { hash } from 'node:crypto'

/** One of this client's was granted the lock, if the proof is right. */
export interface Grant {
  /** Of its wire name. */
  readonly number: number
  /** When, by the server's clock, µs. */
  readonly stamp: number
  /** The numbers of those of this client who stood right behind it. */
  readonly behind: readonly number[]
  /** Others stand behind those. */
  readonly followed: boolean
  /** What is proven, and by what. */
  readonly text: string
  readonly proof: string
}

const GRANT = /^([1-9]\d{0,14}) (\d{1,16})((?: [1-9]\d{0,14}){0,63})( \+)?(?= [0-9a-f]{16}$)/
const PROOF = 16

/** Undefined: it is none. What else is said to this client may be said by anybody, and is worth a question. */
export const grantOf = (payload: string): Grant | undefined => {
  const parts = GRANT.exec(payload)
  if (parts === null) return undefined
  const [text, number, stamp, behind = '', followed] = parts
  return {
    number: Number(number),
    stamp: Number(stamp),
    behind: behind === '' ? [] : behind.slice(1).split(' ').map(Number),
    followed: followed !== undefined,
    text,
    proof: payload.slice(-PROOF),
  }
}

/** Whoever wrote it knew the whole name of the owner, and so can read the keys of the lock. */
export const isProven = ({ text, proof }: Grant, wire: string): boolean =>
  hash('sha1', `${wire} ${text}`, 'hex').startsWith(proof)
