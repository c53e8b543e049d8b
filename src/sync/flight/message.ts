import { hash } from 'node:crypto'
import { isForm, type Written } from '../../codecs/written.js'

/** How a computation has ended: its value, or the name of what was thrown and why, with a blank between. */
export interface Ended extends Written {
  readonly state: 'value' | 'failed'
  readonly token: bigint
}

const PROOF = 64
const MESSAGE = /^([1-9]\d{0,18}) value (none|text|base64) /
/** What is longer is read from the server. */
const LONGEST = 16_384
/** No message has more bytes. */
export const LONGEST_MESSAGE = PROOF + 3 * LONGEST

/** Only those who can read the lock know the holder's whole name. It is hashed twice: otherwise whoever has heard a proof could extend its text. */
const proofOf = (holder: string, text: string): string =>
  hash('sha256', `${holder} ${hash('sha256', `${holder} ${text}`, 'hex')}`, 'hex')

export const messageOf = (holder: string, { token, state, form, data }: Ended): string => {
  const text = `${token} ${state} ${form} ${data}`
  // Whoever may subscribe hears it: why something failed is read by those who may read the key.
  return text.length > LONGEST || state === 'failed' ? '' : proofOf(holder, text) + text
}

/** Undefined: it says nothing that can be believed, and is worth a look. */
export const endedOf = (payload: string, holder: string | undefined): Ended | undefined => {
  if (holder === undefined || holder === '' || payload.length > PROOF + LONGEST) return undefined
  const text = payload.slice(PROOF)
  const [head, token, form] = MESSAGE.exec(text) ?? []
  if (head === undefined || !isForm(form)) return undefined
  if (payload.slice(0, PROOF) !== proofOf(holder, text)) return undefined
  return { token: BigInt(token as string), state: 'value', form, data: text.slice(head.length) }
}
