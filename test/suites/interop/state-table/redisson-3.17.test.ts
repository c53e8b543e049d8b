import { olderOf } from './rows.js'
import { stateTable } from './suite.js'

stateTable('3.17.7', olderOf('3.17'))
