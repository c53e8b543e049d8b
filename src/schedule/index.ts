export { schedule, type Schedule, type ScheduledRun, type ScheduleOptions } from './schedule.js'
