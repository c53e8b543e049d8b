import { NEWEST } from '../support/redisson.js'
import { wakeSuite } from './suite.js'
import { WAKINGS } from './wakings.js'

wakeSuite(NEWEST, WAKINGS)
