// @ts-check
import { delimiter, join } from 'node:path'
import { ensure, isProgram } from './packages.mjs'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const MAC = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'

/** The path of a Chromium or Chrome; undefined where there is none. */
export const chromiumProgram = () => {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return [...NAMES.flatMap((name) => folders.map((folder) => join(folder, name))), MAC].find(isProgram)
}

/** Makes sure that tests of pages find a browser, if this machine may be changed. */
export const ensureChromium = () => {
  ensure({
    missing: 'no chromium on the PATH',
    please: 'Chromium',
    isThere: () => chromiumProgram() !== undefined,
    managers: [
      ['apt-get', 'apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium'],
      ['apk', 'apk add --no-cache chromium'],
      ['dnf', 'dnf install -y chromium'],
      ['brew', 'brew install --cask chromium'],
    ],
  })
}
