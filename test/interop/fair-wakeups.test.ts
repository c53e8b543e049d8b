import { FAIR, NON_REENTRANT_FAIR } from './support/actors.js'
import { NEWEST } from './support/redisson.js'
import { wakeSuite } from './support/wake-suite.js'

wakeSuite(NEWEST, FAIR)
wakeSuite(NEWEST, NON_REENTRANT_FAIR)
