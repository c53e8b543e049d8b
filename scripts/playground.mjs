#!/usr/bin/env node
// @ts-check
/**
 * npm run playground        builds the playground and serves it on this machine
 * npm run playground 8080   on that port
 */
import { copyFileSync, createReadStream, mkdirSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import { isMain } from './is-main.mjs'

const root = join(import.meta.dirname, '..')
const source = join(root, 'site/playground')
export const PLAYGROUND = join(source, 'dist')
const FILES = ['index.html', 'style.css']
const SENT = ['page.js', ...FILES]
const TYPES = { '.html': 'text/html; charset=utf-8', '.css': 'text/css', '.js': 'text/javascript' }

const COMMON = /** @satisfies {import('esbuild').BuildOptions} */ ({
  absWorkingDir: root,
  bundle: true,
  minify: true,
  platform: /** @type {const} */ ('browser'),
  conditions: ['browser'],
  format: /** @type {const} */ ('iife'),
  target: 'es2022',
  logLevel: /** @type {const} */ ('warning'),
})

/** The server and the processes, as one text: in them the library reaches the server over a port, and says what it does. */
const bundleWorker = async () => {
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    ...COMMON,
    entryPoints: [join(source, 'src/worker.ts')],
    write: false,
    legalComments: 'inline',
    alias: { '#platform': join(source, 'src/platform.ts'), '#open-driver': join(source, 'src/open-driver.ts') },
  })
  return /** @type {{ text: string }} */ (outputFiles[0]).text
}

/** From dist/ of the library. @param {string} [out] a folder, made anew */
export const buildPlayground = async (out = PLAYGROUND) => {
  const { build } = await import('esbuild')
  const library = await bundleWorker()
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  for (const file of FILES) copyFileSync(join(source, file), join(out, file))
  await build({
    ...COMMON,
    entryPoints: [join(source, 'src/page.tsx')],
    outfile: join(out, 'page.js'),
    jsx: 'automatic',
    jsxImportSource: 'preact',
    plugins: [
      {
        name: 'library',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^library$/ }, () => ({ path: 'library', namespace: 'library' }))
          onLoad({ filter: /.*/, namespace: 'library' }, () => ({ contents: library, loader: 'text' }))
        },
      },
    ],
  })
}

/** @param {number} port */
const serve = (port) => {
  const server = createServer((request, response) => {
    const file = request.url === '/' ? 'index.html' : String(request.url).slice(1)
    if (!SENT.includes(file)) return void response.writeHead(404).end()
    const type = TYPES[/** @type {keyof typeof TYPES} */ (extname(file))]
    response.writeHead(200, { 'content-type': type, 'content-length': statSync(join(PLAYGROUND, file)).size })
    createReadStream(join(PLAYGROUND, file)).pipe(response)
  })
  server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}/`))
}

if (isMain(import.meta.url)) {
  await buildPlayground()
  serve(Number(process.argv[2] ?? 4173))
}
