import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'

const PASSWORD = '>secret'

export interface AclLine {
  readonly words: readonly string[]
  readonly keys: readonly string[]
  readonly channels: readonly string[]
  readonly commands: readonly string[]
}

/** The lines of SECURITY.md, as they stand there. */
const lines = readFileSync(new URL('../../../SECURITY.md', import.meta.url), 'utf8')
  .split('\n')
  .map((line) => line.trim())
  .filter((line) => /^ACL SETUSER holdfast(-reader)? /.test(line))

const parse = (line: string | undefined): AclLine => {
  const words = (line ?? assert.fail('a line is missing in SECURITY.md')).split(' ')
  assert.ok(words.includes(PASSWORD), 'the password of the line is another')
  const rules = (sign: string): string[] => words.filter((word) => word.startsWith(sign)).map((word) => word.slice(1))
  return { words, keys: rules('~'), channels: rules('&'), commands: rules('+') }
}

assert.equal(lines.length, 3)
/** For names that begin with `app:`, and for any. */
export const APP_LINE = parse(lines[0])
export const ANY_LINE = parse(lines[1])
/** For a user who only looks. */
export const READER_LINE = parse(lines[2])

/** Makes the user of the line, and gives what stands before the host in its URLs. */
export const admit = async (redis: Redis, { words }: AclLine, password: string): Promise<string> => {
  const [name = '', ...args] = words.map((word) => (word === PASSWORD ? `>${password}` : word))
  assert.equal(await redis.call(name, ...args), 'OK')
  return `${words[2] ?? ''}:${password}`
}
