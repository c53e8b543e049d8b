import { oldest } from './rows.js'
import { stateTable } from './suite.js'

stateTable('3.8.1', oldest)
