import { excludesOthers, type HoldersAndWaiters, type Person } from './holders-and-waiters.js'

/** One difference between two looks at a lock. */
export interface Change {
  /** `ended`: a hold; why is another question. */
  readonly type: 'waiting' | 'granted' | 'gave up' | 'ended'
  readonly person: Person
  readonly certain: boolean
}

type Some = ReadonlyMap<string, Person>

const missing = (from: Some, ...others: readonly Some[]): Person[] =>
  [...from.values()].filter(({ owner }) => !others.some((other) => other.has(owner)))

const sameOwners = (one: Some, other: Some): boolean =>
  one.size === other.size && [...one.keys()].every((owner) => other.has(owner))

/** Whether nobody else can have held the lock between two looks that both found these holders. */
const excludes = (holders: Some): boolean => [...holders.values()].some(excludesOthers)

/** What happened between two looks, in an order in which it can have happened: nobody is granted what another still holds. */
export const changesOf = (before: HoldersAndWaiters, after: HoldersAndWaiters): readonly Change[] => {
  // Of more than can be shown, those that are missing may be among the others.
  const ended = after.more && !excludes(before.holders) ? [] : missing(before.holders, after.holders)
  const left = after.more ? [] : missing(before.waiting, after.waiting, after.holders)
  const steady = sameOwners(before.holders, after.holders) && excludes(after.holders)
  // A client passes a hold on to its next caller without the server: that holds it under the name that the first one had there.
  const clients = new Set([...after.holders.values()].map(({ client }) => client))
  const changes = (type: Change['type'], people: readonly Person[], certain = (_: Person) => true): Change[] =>
    people.map((person) => ({ type, person, certain: certain(person) }))
  return [
    ...changes('ended', ended),
    // A place that left may have held the lock in the meantime.
    ...changes('gave up', left, ({ client }) => steady && !clients.has(client)),
    ...changes('granted', missing(after.holders, before.holders)),
    ...changes('waiting', missing(after.waiting, before.waiting, before.holders)),
  ]
}
