import { NEWEST } from '../support/redisson.js'
import { shared } from './rows.js'
import { stateTable } from './suite.js'

stateTable(NEWEST, shared)
