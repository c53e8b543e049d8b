export { type VirtualClock, virtualClock } from './virtual-clock.js'
export type { Clock, Timer, TimerOptions } from '../core/clock.js'
