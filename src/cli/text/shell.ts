import { HIDDEN } from '../../plain-text.js'

const escaped = (sign: string): string => `\\U${(sign.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`

/** The text as one word of a shell. What a terminal could act on is written as bash and zsh read it. */
export const shellWord = (text: string): string => {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text
  // A pattern with the flag g remembers where it stopped.
  if (text.search(HIDDEN) < 0) return `'${text.replaceAll("'", String.raw`'\''`)}'`
  return `$'${text.replace(/['\\]/g, String.raw`\$&`).replace(HIDDEN, escaped)}'`
}
