import { engines } from '../engines.js'
import { kinds } from './kinds.js'
import { lockContract } from './lock.contract.js'

for (const kind of kinds) for (const engine of engines) lockContract(kind, engine)
