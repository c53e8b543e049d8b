// @ts-check
/** CHANGELOG.md, version by version. */

/** @typedef {{ version: string, date: string, text: string }} Section the date of the newest is `Unreleased` until it is released */

/** @param {string} changelog @returns {Section[]} the newest first */
export const sectionsOf = (changelog) =>
  changelog
    .split(/^(?=## )/m)
    .filter((part) => part.startsWith('## '))
    .map((part) => {
      const [heading = '', ...lines] = part.split('\n')
      const [, version = '', date = ''] = /^## \[(\S+)\] - (Unreleased|\d{4}-\d{2}-\d{2})$/.exec(heading) ?? []
      if (version === '') throw new Error(`CHANGELOG.md: '${heading}' is not '## [1.2.3] - 2026-01-31'`)
      return { version, date, text: lines.join('\n').trim() }
    })

/** @param {string} changelog */
export const newestOf = (changelog) => {
  const [newest] = sectionsOf(changelog)
  if (newest === undefined) throw new Error('CHANGELOG.md has no version')
  return newest
}
