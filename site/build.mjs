// @ts-check
/** Builds the site into site/.vitepress/dist. `npm run docs` installs what this needs, and starts it. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'vitepress'
import { writeApi } from './api.mjs'
import { writeErrors } from './errors.mjs'
import { writeForPrograms } from './llms.mjs'
import { groups, hasPlayground, PLAYGROUND } from './navigation.mjs'
import { Pages } from './pages.mjs'

const site = import.meta.dirname
const root = join(site, '..')
const out = join(site, '.pages')

/** The comparison stands in the README, where people look for it first. */
const comparison = () => {
  const parts = readFileSync(join(root, 'README.md'), 'utf8').split(/^(?=## )/m)
  const named = ['## Compared with other libraries', '## When not to use it']
  return `# Compared with others\n\n${parts.filter((part) => named.some((name) => part.startsWith(name))).join('')}`
}

/** @param {Pages} pages */
const readApi = async (pages) => {
  await writeApi(join(out, 'api'))
  for (const name of readdirSync(join(out, 'api'), { recursive: true, encoding: 'utf8' }))
    if (name.endsWith('.md')) pages.pages.set(`api/${name}`, readFileSync(join(out, 'api', name), 'utf8'))
}

/** @param {ReadonlyMap<string, string>} pages */
const notInNavigation = (pages) => {
  const links = new Set(groups().flatMap(({ items }) => items.map(({ link }) => link.slice(1).split('#')[0] ?? '')))
  return [...pages.keys()]
    .filter((address) => !/^(?:api|errors|files)\/|^index\.md$/.test(address))
    .filter((address) => !links.has(address.replace(/(?:index)?\.md$/, '')))
}

/** @param {readonly string[]} problems @param {string} what */
const refuse = (problems, what) => {
  if (problems.length > 0) throw new Error(`${what}:\n  ${problems.join('\n  ')}`)
}

const collect = async () => {
  const pages = new Pages()
  pages.add('site/index.md')
  pages.addFolder('docs')
  for (const name of ['SECURITY', 'ARCHITECTURE', 'CONTRIBUTING', 'CHANGELOG']) pages.add(`${name}.md`)
  if (!pages.pages.has('comparison.md')) pages.pages.set('comparison.md', pages.rewrite(comparison(), 'README.md'))
  writeErrors(pages)
  await readApi(pages)
  refuse([...pages.broken, ...pages.deadLinks()], 'links that lead nowhere')
  refuse(notInNavigation(pages.pages), 'pages that site/navigation.mjs does not name')
  return pages
}

/** @param {Pages} pages */
const write = ({ pages, files }) => {
  for (const [address, text] of pages) {
    mkdirSync(dirname(join(out, address)), { recursive: true })
    writeFileSync(join(out, address), text)
  }
  cpSync(join(site, 'public'), join(out, 'public'), { recursive: true })
  for (const [address, path] of files) cpSync(join(root, path), join(out, 'public', address))
  if (hasPlayground()) cpSync(PLAYGROUND, join(out, 'public/playground'), { recursive: true })
}

rmSync(out, { recursive: true, force: true })
const pages = await collect()
write(pages)
await build(site)
writeForPrograms(pages.pages, join(site, '.vitepress/dist'))
console.log(`${pages.pages.size} pages`)
