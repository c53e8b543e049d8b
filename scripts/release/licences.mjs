// @ts-check
/** The licences of code by others that is part of dist/. Their texts stand in NOTICE. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
/** What is bundled with packages inside: the Lua interpreter, the page of the dashboard, and the build for browsers. */
const BUNDLES = ['scripts/vm/entry.js', 'src/dashboard/page/main.tsx', 'dist/index.js']
const PACKAGE = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//

/** @returns {Promise<string[]>} the packages whose code is in dist/ */
export const bundledPackages = async () => {
  const { build } = await import('esbuild')
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: BUNDLES,
    outdir: 'unwritten',
    bundle: true,
    write: false,
    metafile: true,
    platform: 'browser',
    conditions: ['browser'],
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    external: ['fs', 'os', 'path', 'child_process', 'crypto'],
    logLevel: 'error',
  })
  const names = Object.keys(metafile.inputs).flatMap((path) => PACKAGE.exec(path)?.[1] ?? [])
  return [...new Set(names)].sort()
}

/** @param {string} text */
const inOneLine = (text) => text.replace(/\s+/g, ' ').trim()

/** @param {readonly string[]} names @param {string} notice @returns {string[]} what is wrong */
export const licenceProblems = (names, notice) =>
  names.flatMap((name) => {
    const { version } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'))
    const licence = readFileSync(join(root, 'node_modules', name, 'LICENSE'), 'utf8')
    return [
      ...(notice.includes(`${name} ${version}`) ? [] : [`NOTICE does not name ${name} ${version}`]),
      ...(inOneLine(notice).includes(inOneLine(licence)) ? [] : [`NOTICE does not have the licence of ${name}`]),
    ]
  })
