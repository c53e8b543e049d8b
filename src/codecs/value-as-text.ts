import { platform } from '#platform'
import type { Codec } from '../api/codec.js'
import { decodeWith, encodeWith } from './codec-by-name.js'

/** A value as text, which every client library sends unchanged: bytes become base64. */
export interface Written {
  readonly form: 'none' | 'text' | 'base64'
  readonly data: string
}

/** `what` names the value in an error message. */
export const written = (codec: Codec, value: unknown, what: string): Written => {
  if (value === undefined) return { form: 'none', data: '' }
  const data = encodeWith(codec, value, what)
  if (typeof data === 'string') return { form: 'text', data }
  return { form: 'base64', data: platform.toBase64(data) }
}

export const isForm = (form: unknown): form is Written['form'] =>
  form === 'none' || form === 'text' || form === 'base64'

export const readWritten = (codec: Codec, { form, data }: Written): unknown =>
  form === 'none' ? undefined : decodeWith(codec, form === 'text' ? platform.toUtf8(data) : platform.fromBase64(data))
