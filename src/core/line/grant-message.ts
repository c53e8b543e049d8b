import { platform } from '#platform'

/** A message that says that a place of this client was granted the lock. True only if the proof is right. */
export interface Grant {
  /** The number in the place's wire name. */
  readonly number: number
  /** When it was granted, by the server's clock, µs. */
  readonly stamp: number
  /** The numbers of the places of this client that stood right behind it. */
  readonly behind: readonly number[]
  /** Other clients stand behind those. */
  readonly followed: boolean
  /** The text that is proven, and its proof. */
  readonly text: string
  readonly proof: string
}

const GRANT = /^([1-9]\d{0,14}) (\d{1,16})((?: [1-9]\d{0,14}){0,63})( \+)?(?= [0-9a-f]{16}$)/
const PROOF = 16

/** Undefined: the message is no grant. Anybody could have sent it, and it is worth a question. */
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

/** True if the sender knew the whole wire name of the owner, and so can read the keys of the lock. */
export const isProven = ({ text, proof }: Grant, wire: string): boolean =>
  platform.hash('sha1', `${wire} ${text}`).startsWith(proof)
