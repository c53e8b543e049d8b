import { kindsOf } from '../contract/kinds.js'
import { lockContract } from '../contract/lock.contract.js'
import { silencedEngine } from '../../support/engines.js'

/** Every message is lost: all that a lock must do it still does, only later. */
for (const kind of kindsOf('whole')) lockContract(kind, silencedEngine)
