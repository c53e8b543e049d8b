import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** Of this package, or of one that it uses, wherever the bundle has put this module. */
export const versionOf = (name: 'holdfast' | 'ioredis'): string => {
  const file = createRequire(import.meta.url).resolve(`${name}/package.json`)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
