// @ts-check
/** The anchor of a heading, as GitHub makes it: links to headings work on both. @param {string} title */
export const slug = (title) =>
  title
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/** The text of a page without its blocks of code. @param {string} text */
export const withoutCode = (text) => text.replace(/^( *)```[^]*?^\1```/gm, '')

/** @param {string} title */
const plainTitle = (title) => title.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')

/** All anchors of a page. @param {string} text */
export const anchorsOf = (text) => {
  /** @type {Map<string, number>} */
  const seen = new Map()
  const headings = [...withoutCode(text).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => {
    const anchor = slug(plainTitle(title))
    const before = seen.get(anchor) ?? 0
    seen.set(anchor, before + 1)
    return before === 0 ? anchor : `${anchor}-${before}`
  })
  const written = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)
  return new Set([...headings, ...written])
}
