import type { Person, ShownLock } from '../page-messages.js'
import { addressOf } from './lane.js'
import { age, count, hueOf, shown, whoIs } from './words.js'

interface Doing {
  readonly one: Person
  readonly lock: ShownLock
}

interface ClientRow {
  readonly who: Person
  readonly holds: Doing[]
  readonly waits: Doing[]
}

/** How many locks of one client are shown, and how many clients. */
const MOST_LOCKS = 12
const MOST_CLIENTS = 300

const clientsOf = (locks: Iterable<ShownLock>): readonly ClientRow[] => {
  const rows = new Map<string, ClientRow>()
  const rowOf = (who: Person): ClientRow => {
    const row = rows.get(who.client) ?? { who, holds: [], waits: [] }
    rows.set(who.client, row)
    return row
  }
  for (const lock of locks) {
    for (const one of lock.holders) rowOf(one).holds.push({ one, lock })
    for (const one of lock.waiting) rowOf(one).waits.push({ one, lock })
  }
  const byName = (a: ClientRow, b: ClientRow) => (whoIs(a.who) < whoIs(b.who) ? -1 : 1)
  return [...rows.values()].sort((a, b) => b.waits.length - a.waits.length || byName(a, b))
}

const Some = ({ doing, now }: { doing: readonly Doing[]; now: number }) => (
  <>
    {doing.slice(0, MOST_LOCKS).map(({ lock, one }) => (
      <a key={lock.id + one.id} class="chip" href={addressOf(lock.id)}>
        {shown(lock.name)} <span class="quiet">{age(one, now)}</span>
      </a>
    ))}
    {doing.length > MOST_LOCKS && <span class="quiet">… and {doing.length - MOST_LOCKS} more</span>}
    {doing.length === 0 && <span class="quiet">nothing</span>}
  </>
)

const Row = ({ who, holds, waits, now }: ClientRow & { readonly now: number }) => (
  <tr>
    <th scope="row">
      <i class={`dot hue${hueOf(who.client)}`} aria-hidden="true" />
      {who.label === undefined ? <span class="quiet">no label</span> : shown(who.label)}
      <small class="quiet">{shown(who.short)}</small>
    </th>
    <td data-title="Holds">
      <Some doing={holds} now={now} />
    </td>
    <td data-title="Waits for">
      <Some doing={waits} now={now} />
    </td>
  </tr>
)

/** What each client holds and waits for. */
export const ClientsPage = ({ locks, now }: { locks: ReadonlyMap<string, ShownLock>; now: number }) => {
  const rows = clientsOf(locks.values())
  if (rows.length === 0)
    return (
      <div class="nothing">
        <h2>No client holds anything</h2>
        <p>A client appears here when it has held a lock, or waited for one, for longer than a second.</p>
      </div>
    )
  return (
    <>
      <h1>{count(rows.length, 'client')}</h1>
      <table class="clients">
        <thead>
          <tr>
            <th scope="col">Client</th>
            <th scope="col">Holds</th>
            <th scope="col">Waits for</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MOST_CLIENTS).map(({ who, holds, waits }) => (
            <Row key={who.client} {...{ who, holds, waits, now }} />
          ))}
        </tbody>
      </table>
      {rows.length > MOST_CLIENTS && <p class="quiet">… and {rows.length - MOST_CLIENTS} more</p>}
    </>
  )
}
