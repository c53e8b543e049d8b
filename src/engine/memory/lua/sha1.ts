import { platform } from '#platform'
import type { Bytes } from '../reply.js'

/** The SHA-1 of a byte string in hexadecimal, which is a script's name in Redis. */
export const sha1 = (bytes: Bytes): string => platform.hash('sha1', bytes, 'latin1')
