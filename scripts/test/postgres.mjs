// @ts-check
import { readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { ensure, isProgram } from './packages.mjs'

/** Debian keeps it out of the PATH. */
const DEBIAN = '/usr/lib/postgresql'

const debianFolders = () => {
  try {
    return readdirSync(DEBIAN)
      .sort((one, other) => Number(other) - Number(one))
      .map((version) => join(DEBIAN, version, 'bin'))
  } catch {
    return []
  }
}

/** The folder of PostgreSQL's programs. */
export const postgresPrograms = () =>
  [...(process.env['PATH'] ?? '').split(delimiter), ...debianFolders()].find((folder) =>
    ['initdb', 'postgres'].every((program) => isProgram(join(folder, program))),
  )

/** Makes sure that the example of fencing finds a PostgreSQL server, if this machine may be changed. */
export const ensurePostgres = () => {
  ensure({
    missing: 'no postgres on the PATH',
    please: 'PostgreSQL',
    isThere: () => postgresPrograms() !== undefined,
    managers: [
      ['apt-get', 'apt-get update -qq && apt-get install -y -qq --no-install-recommends postgresql'],
      ['apk', 'apk add --no-cache postgresql'],
      ['dnf', 'dnf install -y postgresql-server'],
      ['brew', 'brew install postgresql@17 && brew link --force postgresql@17'],
    ],
  })
}
