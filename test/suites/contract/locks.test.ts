import { engines } from '../../support/engines.js'
import { kindsOf } from './kinds.js'
import { lockContract } from './lock.contract.js'

for (const kind of kindsOf('by script')) for (const engine of engines) lockContract(kind, engine)
