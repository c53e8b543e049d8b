// @ts-check
/** What programs read: the list of all pages, all of them in one text, and each as Markdown beside its page. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { groups } from './navigation.mjs'

const ABOUT = 'Distributed locks and synchronizers for TypeScript on Redis and Valkey.'

/** @param {string} link */
const markdownOf = (link) => {
  const [page = '', anchor] = link.slice(1).split('#')
  return `${page === '' || page.endsWith('/') ? `${page}index` : page}.md${anchor === undefined ? '' : `#${anchor}`}`
}

const index = () =>
  groups()
    .map(
      ({ text, items }) =>
        `## ${text}\n\n${items.map((item) => `- [${item.text}](${markdownOf(item.link)})`).join('\n')}`,
    )
    .join('\n\n')

/** Pages that the full text leaves out: long tables about the tests, and the API, which the types say as well. @param {string} address */
const isLeftOut = (address) =>
  /^(?:api|files|errors)\/|^(?:conformance|changelog|performance|benchmarks|index)\.md$/.test(address)

/** @param {ReadonlyMap<string, string>} pages @param {string} out */
export const writeForPrograms = (pages, out) => {
  for (const [address, text] of pages) {
    mkdirSync(dirname(join(out, address)), { recursive: true })
    writeFileSync(join(out, address), text)
  }
  const full = [...pages]
    .filter(([address]) => !isLeftOut(address))
    .map(([address, text]) => `<!-- ${address} -->\n\n${text}`)
  writeFileSync(join(out, 'llms.txt'), `# holdfast\n\n> ${ABOUT}\n\n${index()}\n`)
  writeFileSync(join(out, 'llms-full.txt'), full.join('\n\n'))
}
