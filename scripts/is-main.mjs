// @ts-check
import { realpathSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

/** Whether the module is the program that Node was started with, also through a link. @param {string} url its `import.meta.url` */
export const isMain = (url) => {
  const [, program] = process.argv
  return program !== undefined && url === pathToFileURL(realpathSync(program)).href
}
