import { NON_REENTRANT, PLAIN } from './support/actors.js'
import { NEWEST } from './support/redisson.js'
import { wakeSuite } from './support/wake-suite.js'

for (const version of [NEWEST, '3.17.7', '3.16.8']) wakeSuite(version, PLAIN)
wakeSuite(NEWEST, NON_REENTRANT)
