import type { ListedLock, ListedWaiter } from '../../api/listing.js'
import { plainMessage } from '../../plain-text.js'
import { whoIs } from '../locks/describe.js'
import type { Crossing } from './crossings.js'
import type { Forest } from './wait-forest.js'

/** A text in the language of Graphviz. */
const quoted = (text: string): string => `"${text.replace(/["\\]/g, String.raw`\$&`)}"`

const lockNode = ({ kind, key }: ListedLock): string => quoted(`lock ${kind} ${plainMessage(key)}`)
const callNode = (owner: string): string => quoted(`call ${plainMessage(owner)}`)

const waitId = (client: string, key: string): string => `${client} ${key}`

/** By the client that waits and the key that it waits for: the first owner whose call does so. */
const waitingOwners = (all: readonly ListedLock[]): ReadonlyMap<string, string> => {
  const owners = new Map<string, string>()
  for (const { client, owner, waitsFor = [] } of all.flatMap(({ holders }) => holders))
    for (const { key } of waitsFor) if (!owners.has(waitId(client, key))) owners.set(waitId(client, key), owner)
  return owners
}

/** Calls and locks as a graph for `dot`: from a call to the lock that it waits for, and from a lock to the call that holds it. `possible`: from a call to the lock that it may wait for, as a dashed line. */
export const dotOf = (
  all: readonly ListedLock[],
  { cycles }: Forest,
  possible: readonly Crossing[] = [],
): readonly string[] => {
  const red = new Set(cycles.flatMap((cycle) => cycle.map(({ holder }) => callNode(holder.owner))))
  const waiting = waitingOwners(all)
  // The call that stands in the line is the one that holds something else, if its client says so.
  const nodeOf = ({ client, owner }: ListedWaiter, { key }: ListedLock): string =>
    callNode(waiting.get(waitId(client, key)) ?? owner)
  const nodes = new Map<string, string>()
  const edges: string[] = []
  const call = (node: string, who: Parameters<typeof whoIs>[0]): string => {
    nodes.set(node, `label=${quoted(whoIs(who))}${red.has(node) ? ' color=red' : ''}`)
    return node
  }
  for (const lock of all.filter(({ waiting }) => waiting.length > 0)) {
    const to = lockNode(lock)
    nodes.set(to, `label=${quoted(`${plainMessage(lock.name)} (${lock.kind})`)} shape=box`)
    for (const holder of lock.holders) edges.push(`${to} -> ${call(callNode(holder.owner), holder)} [label="held by"]`)
    for (const waiter of lock.waiting) edges.push(`${call(nodeOf(waiter, lock), waiter)} -> ${to}`)
  }
  for (const { holder, wanted } of possible.flat())
    edges.push(`${callNode(holder.owner)} -> ${lockNode(wanted)} [label="perhaps waits for" color=orange style=dashed]`)
  const lines = [...[...nodes].map(([node, attributes]) => `${node} [${attributes}]`), ...edges]
  return ['digraph locks {', ...lines.map((line) => `  ${line}`), '}']
}
