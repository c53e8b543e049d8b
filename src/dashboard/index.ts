export { dashboard } from './dashboard.js'
export type { DashboardHandler, DashboardMount, DashboardOptions, Leave } from './dashboard.js'
export type { DashboardAction } from './act.js'
export { toNode } from './to-node.js'
