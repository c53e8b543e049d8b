import { PASS_TIME } from '../../script-times-and-limits.js'
import type { Tenure } from '../hold/tenure.js'
import { alike, type LeaseTerms } from '../hold/lease-terms.js'

/** How often a hold may be passed on within one process before other processes get their turn. */
const PASSES_OF_A_TENURE = 65_536

/** Whether the next waiter here may go before other processes. */
export const mayPass = (tenure: Tenure, now: number): boolean =>
  tenure.passes < PASSES_OF_A_TENURE && now - tenure.opened < PASS_TIME

/** Whether the next waiter here may go without a step on the server: on the same terms, and if the server's last answer is fresh enough. */
export const passesAsItIs = (tenure: Tenure, next: LeaseTerms, now: number): boolean => {
  const half = tenure.lease / 2
  // On trial the lease is shorter, and `status()` takes that into account.
  const proven = tenure.trial || (now - tenure.provenAt < half && tenure.lastsUntil - now >= half)
  const like = tenure.watched && tenure.token === undefined && alike(next, tenure)
  return proven && like && tenure.status() === 'held'
}
