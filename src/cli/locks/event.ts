import type { LockEvent, LockEventType } from '../../api/watching.js'
import { dateAt } from '../../base/clock.js'
import { plainJson, plainMessage } from '../../plain-text.js'
import { spanOf } from '../text/time-span.js'
import { whoIs } from './describe.js'

const WIDEST = 'released'.length
const ENDS: ReadonlySet<LockEventType> = new Set(['gave up', 'released', 'expired', 'forced', 'deleted'])

const two = (number: number): string => String(number).padStart(2, '0')

/** The time of day here, to the ms. */
const timeOf = (at: number): string => {
  const date = dateAt(at)
  const ms = String(date.getMilliseconds()).padStart(3, '0')
  return `${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}.${ms}`
}

const ageOf = ({ type, since, at, initial }: LockEvent): readonly string[] => {
  if (since === undefined || (initial !== true && !ENDS.has(type))) return []
  return [`${initial === true ? 'for' : 'after'} ${spanOf(at - since)}`]
}

const sideOf = ({ mode }: LockEvent): readonly string[] =>
  mode === 'read' ? ['reads'] : mode === 'write' ? ['writes'] : []

/** An event for people, on one line. */
export const eventLine = (event: LockEvent): string => {
  const { at, name, keys = [], certain, merged, by } = event
  // It may as well have had its turn between two looks, and be done.
  const left = event.type === 'gave up' && !certain
  const type = left ? 'left' : event.type
  const details = [
    whoIs(event),
    ...sideOf(event),
    ...(keys.length === 0 ? [] : [plainMessage(`keys ${keys.join(', ')}`)]),
    ...ageOf(event),
    ...(by === undefined ? [] : [`by client ${plainMessage(by)}`]),
    ...(left ? ['left the line (perhaps granted)'] : certain ? [] : ['perhaps']),
    ...(merged === true ? ['more may have happened before'] : []),
  ]
  return `${timeOf(at)}  ${type.padEnd(WIDEST)}  ${plainMessage(name)}  ${details.join(', ')}`
}

/** An event for programs: the schema is in docs/command-line.md. Every field is always there; `null`: it is not known, or there is none. */
export const eventJson = (event: LockEvent): string => {
  const { at, type, name, key, kind, owner, client } = event
  const { label = null, mode = null, keys = null, since = null, within = null, certain, by = null } = event
  const { initial = false, merged = false } = event
  return plainJson(
    { at, type, name, key, kind, owner, client, label, mode, keys, since, within, certain, initial, merged, by },
    0,
  )
}
