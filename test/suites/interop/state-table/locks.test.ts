import { NEWEST } from '../support/redisson.js'
import { locks } from './rows.js'
import { stateTable } from './suite.js'

stateTable(NEWEST, locks)
