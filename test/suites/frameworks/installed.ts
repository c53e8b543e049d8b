import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
export const GENERATIONS = ['oldest', 'newest'] as const
export type Generation = (typeof GENERATIONS)[number]

/** Where the frameworks of this generation lie, and holdfast beside them: what is installed there finds them, and not those of the project. */
export const folderOf = (generation: Generation): string => {
  const folder = join(ROOT, 'test/suites/frameworks/packages', generation)
  if (!existsSync(join(folder, 'node_modules/holdfast')))
    throw new Error(`no ${generation} frameworks: npm run test:frameworks installs them, and holdfast as it is built`)
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
