import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
export const GENERATIONS = ['oldest', 'newest'] as const
export type Generation = (typeof GENERATIONS)[number]

const folderOf = (generation: Generation): string => {
  const folder = join(ROOT, 'test/suites/frameworks/packages', generation)
  if (!existsSync(join(folder, 'node_modules')))
    throw new Error(`no ${generation} frameworks: npm run test:frameworks installs them`)
  return folder
}

/** Beside the frameworks of this generation: what is installed there finds them, and not those of the project. */
export const installHoldfast = (generation: Generation): string => {
  const folder = folderOf(generation)
  const copy = join(folder, 'node_modules/holdfast')
  rmSync(copy, { recursive: true, force: true })
  mkdirSync(copy, { recursive: true })
  cpSync(join(ROOT, 'package.json'), join(copy, 'package.json'))
  cpSync(join(ROOT, 'dist'), join(copy, 'dist'), { recursive: true })
  return folder
}

/** A program beside those frameworks, compiled as a project with decorators compiles it. */
export const compileFor = async (folder: string, source: string, name: string): Promise<string> => {
  const outfile = join(folder, 'node_modules/.programs', `${name}.mjs`)
  await build({
    entryPoints: [join(ROOT, source)],
    outfile,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    bundle: false,
    sourcemap: 'inline',
    logLevel: 'warning',
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false } },
  })
  return outfile
}
