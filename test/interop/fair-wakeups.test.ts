import { FAIR, NON_REENTRANT_FAIR } from './support/actors.js'
import { FAIR_VERSIONS } from './support/fair-versions.js'
import { NEWEST } from './support/redisson.js'
import { wakeSuite } from './support/wake-suite.js'

for (const { version, ours } of FAIR_VERSIONS) wakeSuite(version, FAIR, ours)
wakeSuite(NEWEST, NON_REENTRANT_FAIR)
