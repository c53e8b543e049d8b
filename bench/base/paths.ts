import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Of the repository: what is compiled runs in .build/bench/support. */
export const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Laid out as it is published, by scripts/stage.mjs. */
export const STAGED = 'node_modules/.cache/holdfast/package'

export const readJson = (path: string): unknown => {
  try {
    return JSON.parse(readFileSync(join(root, path), 'utf8'))
  } catch {
    return undefined
  }
}

/** Undefined: not installed. */
export const versionOf = (folder: string): string | undefined =>
  (readJson(join(folder, 'package.json')) as { version: string } | undefined)?.version

/** A CommonJS package of bench/peers. */
export const requirePeer = (name: string): unknown => createRequire(join(root, 'bench/peers/package.json'))(name)
