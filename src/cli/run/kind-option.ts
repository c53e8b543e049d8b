import { plainText } from '../../plain-text.js'
import { UsageError } from '../usage-error.js'

/** What `--kind` says. */
export type Kind =
  | { readonly kind: 'lock' | 'fair' | 'read' | 'write' | 'fenced' | 'multi' }
  | { readonly kind: 'semaphore'; readonly permits: number }
  | { readonly kind: 'keyed'; readonly keys: readonly string[] }

export const KINDS = 'lock, fair, read, write, fenced, semaphore:N, keyed:KEY,KEY… or multi'

const MOST_PERMITS = 2_147_483_647

const isPlain = (word: string): word is 'lock' | 'fair' | 'read' | 'write' | 'fenced' | 'multi' =>
  ['lock', 'fair', 'read', 'write', 'fenced', 'multi'].includes(word)

const permitsOf = (text: string): number => {
  const permits = /^\d+$/.test(text) ? Number(text) : 0
  if (permits >= 1 && permits <= MOST_PERMITS) return permits
  throw new UsageError(`--kind semaphore:N needs a number of permits above 0, not "${plainText(text)}"`)
}

const keysOf = (text: string): readonly string[] => {
  const keys = text.split(',')
  if (keys.every((key) => key !== '')) return keys
  throw new UsageError(`--kind keyed:KEY,KEY… needs keys that are not empty, not "${plainText(text)}"`)
}

export const kindOf = (text: string): Kind => {
  if (isPlain(text)) return { kind: text }
  const colon = text.indexOf(':')
  const [word, rest] = colon === -1 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)]
  if (word === 'semaphore') return { kind: word, permits: permitsOf(rest) }
  if (word === 'keyed') return { kind: word, keys: keysOf(rest) }
  throw new UsageError(`--kind must be ${KINDS}, not "${plainText(text)}"`)
}
