import { PLAIN } from './support/actors.js'
import { PROGRAMS, randomProgram } from './support/plain-programs.js'
import { stateSuite } from './support/state-suite.js'

for (const version of ['3.17.7', '3.16.8']) {
  stateSuite(version, PLAIN, { programs: { ...PROGRAMS, 'drawn by lot': randomProgram(3, 100) } })
}
