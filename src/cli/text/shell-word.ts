import { HIDDEN } from '../../plain-text.js'

// Its bytes, because what a shell makes of the number of a character depends on its version and the locale.
const escaped = (sign: string): string =>
  [...Buffer.from(sign)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')

/** The text as one word of a shell. What a terminal could act on is written as bash and zsh read it. */
export const shellWord = (text: string): string => {
  // With an equals sign before it, zsh looks for a command of that name.
  if (/^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text)) return text
  // A pattern with the flag g remembers where it stopped.
  if (text.search(HIDDEN) < 0) return `'${text.replaceAll("'", String.raw`'\''`)}'`
  return `$'${text.replace(/['\\]/g, String.raw`\$&`).replace(HIDDEN, escaped)}'`
}
