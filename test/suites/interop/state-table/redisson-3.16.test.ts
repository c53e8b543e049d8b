import { olderOf } from './rows.js'
import { stateTable } from './suite.js'

stateTable('3.16.8', olderOf('3.16'))
