// @ts-check
/** What must say the same before a version is released. Each function returns what is wrong, as lines. */
import { newestOf } from './changelog.mjs'

const PLACEHOLDER = 'OWNER'

/**
 * @typedef {object} Texts
 * @property {any} manifest package.json
 * @property {any} lock package-lock.json
 * @property {string} changelog
 */

/** @param {Texts} texts @param {string | undefined} tag undefined: a dry run */
export const versionProblems = ({ manifest: { version }, lock, changelog }, tag) => {
  const newest = newestOf(changelog)
  const problems = []
  if (lock.version !== version) problems.push(`package-lock.json says ${lock.version}, package.json ${version}`)
  if (lock.packages[''].version !== version)
    problems.push(`package-lock.json says ${lock.packages[''].version} of its root`)
  if (newest.version !== version)
    problems.push(`CHANGELOG.md begins with ${newest.version}, package.json says ${version}`)
  if (newest.text === '') problems.push(`CHANGELOG.md says nothing about ${newest.version}`)
  if (tag === undefined) return problems
  if (tag !== `v${version}`) problems.push(`the tag is ${tag}, the version ${version}`)
  if (newest.date === 'Unreleased')
    problems.push(`CHANGELOG.md says that ${newest.version} is unreleased; write the date`)
  return problems
}

/** npm refuses the provenance of a package whose `repository` is not the one that builds it. @param {any} manifest @param {string | undefined} tag */
export const addressProblems = ({ name, homepage, repository, bugs }, tag) => {
  const [, owner = ''] = /^git\+https:\/\/github\.com\/([\w-]+)\/[\w.-]+\.git$/.exec(repository.url) ?? []
  const problems = []
  if (repository.url !== `git+https://github.com/${owner}/${name}.git`) problems.push(`repository: ${repository.url}`)
  if (homepage !== `https://github.com/${owner}/${name}#readme`) problems.push(`homepage: ${homepage}`)
  if (bugs !== `https://github.com/${owner}/${name}/issues`) problems.push(`bugs: ${bugs}`)
  if (tag !== undefined && owner === PLACEHOLDER)
    problems.push(
      `package.json: put the repository's owner in place of ${PLACEHOLDER} in homepage, repository and bugs`,
    )
  return problems
}
