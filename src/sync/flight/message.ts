import { hash } from 'node:crypto'
import { isForm, type Written } from '../../codecs/written.js'

/** How a computation has ended: its value, or the name of what was thrown and why, with a blank between. */
export interface Ended extends Written {
  readonly state: 'value' | 'failed'
  readonly token: bigint
}

const PROOF = 64
const MESSAGE = /^([1-9]\d{0,18}) (value|failed) (none|text|base64) /
/** What is longer is read from the server. */
const LONGEST = 16_384

/** Of what `holder` ended: only those who can read the lock know its whole name. Hashed twice, or whoever has heard one could lengthen its text. */
const proofOf = (holder: string, text: string): string =>
  hash('sha256', `${holder} ${hash('sha256', `${holder} ${text}`, 'hex')}`, 'hex')

export const messageOf = (holder: string, { token, state, form, data }: Ended): string => {
  const text = `${token} ${state} ${form} ${data}`
  return text.length > LONGEST ? '' : proofOf(holder, text) + text
}

/** Undefined: it says nothing that can be believed, and is worth a look. */
export const endedOf = (payload: string, holder: string | undefined): Ended | undefined => {
  if (holder === undefined || payload.length > PROOF + LONGEST) return undefined
  const text = payload.slice(PROOF)
  const [head, token, state, form] = MESSAGE.exec(text) ?? []
  if (head === undefined || !isForm(form)) return undefined
  if (payload.slice(0, PROOF) !== proofOf(holder, text)) return undefined
  return { token: BigInt(token as string), state: state as Ended['state'], form, data: text.slice(head.length) }
}
