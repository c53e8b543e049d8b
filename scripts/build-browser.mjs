#!/usr/bin/env node
// @ts-check
/** The library for browsers, with `memory:` only: one module, from dist/. The conditions in package.json choose what replaces Node. */
import { join } from 'node:path'
import { isMain } from './is-main.mjs'

const root = join(import.meta.dirname, '..')

/** @param {string} outfile */
export const buildBrowser = async (outfile) => {
  const { build } = await import('esbuild')
  await build({
    absWorkingDir: root,
    entryPoints: ['dist/index.js'],
    outfile,
    bundle: true,
    platform: 'browser',
    conditions: ['browser'],
    format: 'esm',
    target: 'es2022',
    minify: true,
    legalComments: 'eof',
    logLevel: 'warning',
  })
}

if (isMain(import.meta.url)) await buildBrowser(join(root, 'dist/browser.js'))
