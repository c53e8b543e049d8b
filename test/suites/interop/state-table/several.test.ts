import { NEWEST } from '../support/redisson.js'
import { ofSeveral } from './several.js'
import { stateTable } from './suite.js'

stateTable(NEWEST, ofSeveral)
