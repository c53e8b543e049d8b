import type { Grant } from './grants.js'

/** The last four bytes; the monitor shows those that cannot be printed as \x... */
const permitsOf = (member: string): number => {
  const bytes = [...member.matchAll(/\\x([0-9a-f]{2})|\\(.)|([^])/gi)].map(([, hex, escaped, plain]) =>
    hex === undefined ? (escaped ?? plain ?? '').charCodeAt(0) : Number.parseInt(hex, 16),
  )
  return Buffer.from(bytes).readUInt32LE(bytes.length - 4)
}

/** What the server's scripts added to the log of grants. */
export const grantsIn = (seen: readonly { words: string[]; source: string }[]): Grant[] =>
  seen
    .filter(({ words, source }) => source === 'lua' && words[0]?.toUpperCase() === 'ZADD')
    .map(({ words }) => ({ at: Number(words.at(-2)), permits: permitsOf(words.at(-1) ?? '') }))
