export { type VirtualClock, virtualClock } from './virtual-clock.js'
export type { Clock, Timer, TimerOptions } from '../base/clock.js'
export { checkHistory } from './history/check-history.js'
export { explain } from './history/explain.js'
export type {
  CallEvent,
  CallStep,
  HistoryEvent,
  HistoryOptions,
  Rule,
  Violation,
  WorldEvent,
} from './history/events.js'
export { type HistoryChoices, type HistoryOutcome, simulate } from './simulation/simulate.js'
