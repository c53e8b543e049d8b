// @ts-check
/** The pages of the site: the Markdown of this repository, under the addresses that they have here, with links that lead to pages of the site. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { anchorsOf, withoutCode } from './anchors.mjs'

const root = join(import.meta.dirname, '..')

/** Pages that do not stand in docs/. */
const PAGES_ELSEWHERE = {
  'site/index.md': 'index.md',
  'README.md': 'index.md',
  'SECURITY.md': 'security.md',
  'ARCHITECTURE.md': 'architecture.md',
  'CONTRIBUTING.md': 'contributing.md',
  'CHANGELOG.md': 'changelog.md',
}

/** @param {string} path in this repository @returns {string} of the page on the site */
const addressOf = (path) => {
  const elsewhere = Object.entries(PAGES_ELSEWHERE).find(([from]) => from === path)?.[1]
  if (elsewhere !== undefined) return elsewhere
  const address = path.startsWith('docs/') ? path.slice('docs/'.length) : `files/${path}`
  return address.replace(/README\.md$/, 'index.md')
}

/** @param {string} path */
const isFolder = (path) => existsSync(join(root, path)) && statSync(join(root, path)).isDirectory()

/** Collects pages, and whatever they link to. */
export class Pages {
  /** By their addresses. @type {Map<string, string>} */
  pages = new Map()
  /** What pages show or link to: its address, and its path in this repository. @type {Map<string, string>} */
  files = new Map()
  /** Links to files that are not there. @type {string[]} */
  broken = []
  /** @type {Set<string>} */
  #asked = new Set()
  /** @type {string[]} */
  #waiting = []

  /** Adds a page of this repository, and those that it leads to. @param {string} path */
  add(path) {
    this.#ask(path)
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop())
      this.pages.set(addressOf(next), this.rewrite(readFileSync(join(root, next), 'utf8'), next))
  }

  /** Adds all pages of a folder. @param {string} folder */
  addFolder(folder) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }))
      if (name.endsWith('.md')) this.add(`${folder}/${name}`)
  }

  /** @param {string} path */
  #ask(path) {
    if (path === 'README.md' || this.#asked.has(path)) return
    this.#asked.add(path)
    this.#waiting.push(path)
  }

  /** The text with links that lead to pages of the site. @param {string} text @param {string} path where the text stands in this repository */
  rewrite(text, path) {
    return text
      .split(/(^ *```[^]*?^ *```)/m)
      .map((part) => (/^ *```/.test(part) ? part : this.#rewritePart(part, path)))
      .join('')
  }

  /** @param {string} part @param {string} path */
  #rewritePart(part, path) {
    return part.replace(/(!?)(\[(?:[^\][]|\[[^\]]*\])*\])\(([^)\s]+)\)/g, (whole, image, label, link) =>
      /^(?:https?:|mailto:|#|\/)/.test(link) ? whole : `${image}${label}(${this.#target(link, path, image !== '')})`,
    )
  }

  /** @param {string} link @param {string} path @param {boolean} isImage */
  #target(link, path, isImage) {
    const [file = '', anchor] = link.split('#')
    const from = normalize(join(dirname(path), file)).replace(/\/$/, '')
    const found = isFolder(from) ? `${from}/README.md` : from
    if (!existsSync(join(root, found))) {
      this.broken.push(`${path}: ${link}`)
      return link
    }
    if (found.endsWith('.md')) {
      this.#ask(found)
      return `/${addressOf(found)}${anchor === undefined ? '' : `#${anchor}`}`
    }
    const address = isImage ? addressOf(found) : `files/${found}.txt`
    this.files.set(address, found)
    return `/${address}`
  }

  /** @type {Map<string, Set<string>>} */
  #anchors = new Map()

  /** Whether a link of the site leads to a page, and to a heading of it. @param {string} link */
  has(link) {
    const [path = '', anchor] = link.slice(1).split('#')
    const address = path.endsWith('.md') ? path : path === '' || path.endsWith('/') ? `${path}index.md` : `${path}.md`
    const text = this.pages.get(address)
    if (text === undefined) return false
    const anchors = this.#anchors.get(address) ?? anchorsOf(text)
    this.#anchors.set(address, anchors)
    return anchor === undefined || anchors.has(anchor)
  }

  /** Links to pages that are not there, or to headings that they do not have. */
  deadLinks() {
    return [...this.pages].flatMap(([address, text]) =>
      [...withoutCode(text).matchAll(/\]\(([^)\s:]*\.md)?(#[^)\s]*)?\)/g)]
        .map(
          ([, page = '', anchor = '']) =>
            `${join('/', page === '' ? address : page.startsWith('/') ? page : join(dirname(address), page))}${anchor}`,
        )
        .filter((link) => !this.has(link))
        .map((link) => `${address}: ${link}`),
    )
  }
}
