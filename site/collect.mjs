// @ts-check
/** All pages but those of the API, and what is wrong with them. Needs no packages. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeErrors } from './errors.mjs'
import { groups } from './navigation.mjs'
import { Pages } from './pages.mjs'

const root = join(import.meta.dirname, '..')

/** The comparison stands in the README, where people look for it first. */
const comparison = () => {
  const parts = readFileSync(join(root, 'README.md'), 'utf8').split(/^(?=## )/m)
  const named = ['## Compared with other libraries', '## When not to use it']
  return `# Compared with others\n\n${parts.filter((part) => named.some((name) => part.startsWith(name))).join('')}`
}

/** @returns {Pages} */
export const collect = () => {
  const pages = new Pages()
  pages.add('site/index.md')
  pages.addFolder('docs')
  for (const name of ['SECURITY', 'ARCHITECTURE', 'CONTRIBUTING', 'CHANGELOG']) pages.add(`${name}.md`)
  if (!pages.pages.has('comparison.md')) pages.pages.set('comparison.md', pages.rewrite(comparison(), 'README.md'))
  writeErrors(pages)
  return pages
}

/** @param {ReadonlyMap<string, string>} pages */
const notInNavigation = (pages) => {
  const links = new Set(groups().flatMap(({ items }) => items.map(({ link }) => link.slice(1).split('#')[0] ?? '')))
  return [...pages.keys()]
    .filter((address) => !/^(?:api|errors|files)\/|^index\.md$/.test(address))
    .filter((address) => !links.has(address.replace(/(?:index)?\.md$/, '')))
    .map((address) => `${address}: site/navigation.mjs does not name it`)
}

/** @param {Pages} pages */
const deadInNavigation = (pages) =>
  groups()
    .flatMap(({ items }) => items)
    .filter(({ link }) => !link.startsWith('/api/') && !pages.has(link))
    .map(({ link }) => `site/navigation.mjs: ${link} leads nowhere`)

/** @param {Pages} pages */
export const problemsOf = (pages) => [
  ...pages.broken.map((link) => `${link} leads nowhere`),
  ...pages.deadLinks().map((link) => `${link} leads nowhere`),
  ...notInNavigation(pages.pages),
  ...deadInNavigation(pages),
]
