import type { Grant } from './grants.js'

/** The last four bytes; the monitor shows those that cannot be printed as \x... */
const permitsOf = (member: string): number => {
  const bytes = [...member.matchAll(/\\x([0-9a-f]{2})|\\(.)|([^])/gi)].map(([, hex, escaped, plain]) =>
    hex === undefined ? (escaped ?? plain ?? '').charCodeAt(0) : Number.parseInt(hex, 16),
  )
  return Buffer.from(bytes).readUInt32LE(bytes.length - 4)
}

/** What the server's scripts added to the log of grants and did not take out again because whoever it was for had left. */
export const grantsIn = (seen: readonly { words: string[]; source: string }[]): Grant[] => {
  const calls = seen.filter(({ source }) => source === 'lua').map(({ words }) => words)
  const named = (name: string): string[][] => calls.filter(([word]) => word?.toUpperCase() === name)
  const takenBack = new Set(named('ZREM').map((words) => words.at(-1)))
  return named('ZADD')
    .filter((words) => !takenBack.has(words.at(-1)))
    .map((words) => ({ at: Number(words.at(-2)), permits: permitsOf(words.at(-1) ?? '') }))
}
