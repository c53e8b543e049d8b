import { createHash } from 'node:crypto'
import { numberOf } from '#src/keys.js'

/** What the scripts tell a client of ours when this owner of it was granted a lock; `more`: of those behind. */
export const grantTo = (owner: string, stamp: number | string, more = ''): string => {
  const text = `${numberOf(owner)} ${stamp}${more}`
  return `${text} ${createHash('sha1').update(`${owner} ${text}`).digest('hex').slice(0, 16)}`
}
