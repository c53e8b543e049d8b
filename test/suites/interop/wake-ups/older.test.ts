import { FAIR, PLAIN } from '../support/actors.js'
import { wakeSuite } from './suite.js'
import { WAKINGS } from './wakings.js'

const fair = WAKINGS.filter(({ both }) => both === FAIR)
const both = WAKINGS.filter((waking) => waking.both === PLAIN || fair.includes(waking))

wakeSuite('3.17.7', both, { redisson: '3.17' })
wakeSuite('3.16.8', both, { redisson: '3.16' })
wakeSuite('3.8.1', fair, { redisson: '3.8' })
