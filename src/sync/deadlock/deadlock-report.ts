import type { Deadlock, DeadlockedCall } from '../../api/deadlock.js'
import type { ListedKind } from '../../api/listing.js'
import { serverNow } from '../../core/listing/nested-waits-to-publish.js'
import { DeadlockError } from '../../errors.js'
import { plainText, quoted } from '../../plain-text.js'
import { Labels, type ListHome, nameOf } from '../listing/listed-lock.js'
import { lockKindOf } from '../listing/kinds-in-one-row.js'
import { claimOf } from './wait-graph-reader.js'
import type { Cycle, GraphWait } from './wait-graph.js'

/** Begins with the same call in all clients. */
const inOrder = (cycle: Cycle): GraphWait[] => {
  const waits = cycle.map(({ wait }) => wait)
  const [first = ''] = waits.map(({ id }) => id).sort()
  const at = waits.findIndex(({ id }) => id === first)
  return [...waits.slice(at), ...waits.slice(0, at)]
}

const callOf = (home: ListHome, wait: GraphWait, labels: ReadonlyMap<string, string>): DeadlockedCall => {
  const { client, told } = wait
  const claim = claimOf(wait)
  const label = labels.get(client)
  return {
    name: claim === undefined ? told.key : nameOf(claim, home),
    key: told.key,
    kind: lockKindOf(claim?.shown.kind ?? told.kind) ?? (told.kind as ListedKind),
    client,
    ...(label !== undefined && { label }),
    since: told.since,
    waited: Math.max(0, Math.round(serverNow(home.runtime, told.key) - told.since)),
  }
}

export const describe = async (home: ListHome, cycle: Cycle, victim: GraphWait | undefined): Promise<Deadlock> => {
  const waits = inOrder(cycle)
  const { labels } = await new Labels(home).of(waits.map(({ client }) => client))
  const at = victim === undefined ? -1 : waits.indexOf(victim)
  return { cycle: waits.map((wait) => callOf(home, wait, labels)), victim: at === -1 ? undefined : at }
}

const who = ({ label, client }: DeadlockedCall): string => plainText(label ?? client)

/** How many calls a message names: the event and the error have all of them. */
const NAMED = 4

/** One line for people: each call, what it waits for, and who holds that. */
export const lineOf = ({ cycle }: Deadlock): string => {
  const calls = cycle.map((call, i) => {
    const holder = cycle[(i + 1) % cycle.length] as DeadlockedCall
    const seconds = (call.waited / 1000).toFixed(1)
    return `${who(call)} has waited ${seconds} s for ${quoted(call.name)}, which ${who(holder)} holds`
  })
  const more = calls.length > NAMED ? [`and ${calls.length - NAMED} more`] : []
  return [...calls.slice(0, NAMED), ...more].join('; ')
}

export const deadlockError = (victim: GraphWait, deadlock: Deadlock): DeadlockError =>
  new DeadlockError(
    victim.own?.lock.name ?? victim.told.name,
    `calls wait for one another: ${lineOf(deadlock)}`,
    undefined,
    deadlock.cycle,
  )
