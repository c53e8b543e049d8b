import { NEWEST } from '../support/redisson.js'
import { fair } from './rows.js'
import { stateTable } from './suite.js'

stateTable(NEWEST, fair)
