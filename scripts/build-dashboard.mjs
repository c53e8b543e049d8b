// @ts-check
/** The page of the dashboard: its script and its style sheet, each one file, embedded in a module so that the handler needs no folder. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

/** The first that know `light-dark()`. */
const TARGET = ['chrome123', 'firefox120', 'safari17.5']

/** @param {string} entry */
const bundled = async (entry) => {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: TARGET,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    charset: 'ascii',
    logLevel: 'warning',
  })
  return result.outputFiles[0]?.text ?? ''
}

/** Preact's licence asks to be named. */
const BANNER = '/*! Contains Preact, (c) 2015-present Jason Miller, MIT License: https://preactjs.com */\n'

/** @param {string} root */
export const buildDashboard = async (root) => {
  const page = join(root, 'src/dashboard/page')
  const texts = {
    PAGE: readFileSync(join(page, 'index.html'), 'utf8').replace(/\n\s*/g, '\n'),
    SCRIPT: BANNER + (await bundled(join(page, 'main.tsx'))),
    STYLE: await bundled(join(page, 'style.css')),
  }
  const lines = Object.entries(texts).map(([name, text]) => `export const ${name} = ${JSON.stringify(text)}\n`)
  writeFileSync(join(root, 'src/dashboard/assets.gen.js'), lines.join(''))
}
