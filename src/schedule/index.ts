export { schedule } from './schedule.js'
export type { Schedule, ScheduledRun, ScheduleOptions } from './schedule-options.js'
