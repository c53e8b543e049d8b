import { platform } from '#platform'
import { isForm, type Written } from '../../codecs/value-as-text.js'

/** How a computation ended: its value, or the name and the message of the error, separated by a space. */
export interface Ended extends Written {
  readonly state: 'value' | 'failed'
  readonly token: bigint
}

const PROOF = 64
const MESSAGE = /^([1-9]\d{0,18}) value (none|text|base64) /
/** A longer outcome is read from the server. */
const LONGEST = 16_384
/** No message has more bytes than this. */
export const LONGEST_MESSAGE = PROOF + 3 * LONGEST

/**
 * Proves that the message comes from the holder, whose whole name only clients that can read the lock know. The text is hashed twice, or a listener
 * could extend the text of a proof it received.
 */
const proofOf = (holder: string, text: string): string =>
  platform.hash('sha256', `${holder} ${platform.hash('sha256', `${holder} ${text}`)}`)

export const messageOf = (holder: string, { token, state, form, data }: Ended): string => {
  const text = `${token} ${state} ${form} ${data}`
  // Every subscriber can read a message, so the reason of a failure stays in the key, with its own permissions.
  return text.length > LONGEST || state === 'failed' ? '' : proofOf(holder, text) + text
}

/** Undefined: the message proves nothing, and only causes a look. */
export const endedOf = (payload: string, holder: string | undefined): Ended | undefined => {
  if (holder === undefined || holder === '' || payload.length > PROOF + LONGEST) return undefined
  const text = payload.slice(PROOF)
  const [head, token, form] = MESSAGE.exec(text) ?? []
  if (head === undefined || !isForm(form)) return undefined
  if (payload.slice(0, PROOF) !== proofOf(holder, text)) return undefined
  return { token: BigInt(token as string), state: 'value', form, data: text.slice(head.length) }
}
