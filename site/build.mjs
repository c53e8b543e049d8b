// @ts-check
/** Builds the site into site/.vitepress/dist. `npm run docs` installs what this needs, and starts it. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'vitepress'
import { writeApi } from './api.mjs'
import { collect, problemsOf } from './collect.mjs'
import { writeForPrograms } from './llms.mjs'
import { hasPlayground, PLAYGROUND } from './navigation.mjs'

const site = import.meta.dirname
const root = join(site, '..')
const out = join(site, '.pages')

/** @param {import('./pages.mjs').Pages} pages */
const readApi = async (pages) => {
  await writeApi(join(out, 'api'))
  for (const name of readdirSync(join(out, 'api'), { recursive: true, encoding: 'utf8' }))
    if (name.endsWith('.md')) pages.pages.set(`api/${name}`, readFileSync(join(out, 'api', name), 'utf8'))
}

/** @param {import('./pages.mjs').Pages} pages */
const write = ({ pages, files }) => {
  for (const [address, text] of pages) {
    mkdirSync(dirname(join(out, address)), { recursive: true })
    writeFileSync(join(out, address), text)
  }
  cpSync(join(site, 'public'), join(out, 'public'), { recursive: true })
  cpSync(join(root, 'docs/demo.svg'), join(out, 'public/demo.svg'))
  for (const [address, path] of files) cpSync(join(root, path), join(out, 'public', address))
  if (hasPlayground()) cpSync(PLAYGROUND, join(out, 'public/playground'), { recursive: true })
}

rmSync(out, { recursive: true, force: true })
const pages = collect()
await readApi(pages)
const problems = problemsOf(pages)
if (problems.length > 0) throw new Error(problems.join('\n'))
write(pages)
await build(site)
writeForPrograms(pages.pages, join(site, '.vitepress/dist'))
console.log(`${pages.pages.size} pages`)
