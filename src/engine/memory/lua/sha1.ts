import { createHash } from 'node:crypto'
import type { Bytes } from '../reply.js'

/** The SHA-1 of a byte string in hexadecimal, by which Redis names scripts. */
export const sha1 = (bytes: Bytes): string => createHash('sha1').update(bytes, 'latin1').digest('hex')
