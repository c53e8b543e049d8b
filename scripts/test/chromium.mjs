// @ts-check
import { delimiter, join } from 'node:path'
import { ensure, isProgram } from './packages.mjs'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const MAC = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'

/** The browser in which the dashboard is tested. */
export const chromiumProgram = () => {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return [...NAMES.flatMap((name) => folders.map((folder) => join(folder, name))), MAC].find(isProgram)
}

/** Makes sure that the tests of the dashboard find a browser, if this machine may be changed. */
export const ensureChromium = () => {
  ensure({
    missing: 'no chromium on the PATH',
    please: 'Chromium',
    isThere: () => chromiumProgram() !== undefined,
    managers: [
      ['apt-get', 'apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium'],
      ['apk', 'apk add --no-cache chromium'],
      ['dnf', 'dnf install -y chromium'],
    ],
  })
}
