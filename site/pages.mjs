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

/**
 * @typedef {object} Collected
 * @property {Map<string, string>} pages by their addresses
 * @property {Map<string, string>} files that pages show or link to: address, path in this repository
 * @property {string[]} broken links that lead nowhere
 */

/** Collects pages, and whatever they link to. */
export class Pages {
  /** @type {Map<string, string>} */
  pages = new Map()
  /** @type {Map<string, string>} */
  files = new Map()
  /** @type {string[]} */
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

  /** Links to pages that are not there, or to headings that they do not have. */
  deadLinks() {
    /** @type {Map<string, Set<string>>} */
    const anchors = new Map([...this.pages].map(([address, text]) => [address, anchorsOf(text)]))
    return [...this.pages].flatMap(([address, text]) =>
      [...withoutCode(text).matchAll(/\]\((\/?[^)\s:]*\.md)?(#[^)\s]*)?\)/g)].flatMap(([, page = `/${address}`, anchor]) => {
        const target = anchors.get(page.startsWith('/') ? page.slice(1) : join(dirname(address), page))
        const isThere = target !== undefined && (anchor === undefined || target.has(anchor.slice(1)))
        return isThere ? [] : [`${address}: ${page}${anchor ?? ''}`]
      }),
    )
  }
}
