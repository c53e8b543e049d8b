import { createHash } from 'node:crypto'
import type { Bytes } from '../reply.js'

/** The SHA-1 of a byte string in hexadecimal, which is a script's name in Redis. */
export const sha1 = (bytes: Bytes): string => createHash('sha1').update(bytes, 'latin1').digest('hex')
