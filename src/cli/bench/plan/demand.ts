/** What a load asks of a server, as docs/scale.md explains it. Times are in ms, and everything that is counted is for each second. */

export interface Load {
  /** Each with a client of its own. */
  readonly clients: number
  /** The clients use all of them equally. */
  readonly locks: number
  /** How many acquisitions all clients want. `Infinity`: each wants its lock again at once. */
  readonly rate: number
  readonly hold: number
  /** A round trip to the server. */
  readonly trip: number
  readonly lease: number
}

/** By what causes them. */
export interface Requests {
  readonly visits: number
  readonly polls: number
  readonly renewals: number
  /** Each client shows that it is there, and asks for the server's replicas. */
  readonly heartbeats: number
  /** What has been held or waited for longer than a second is published. */
  readonly listing: number
}

export interface Demand {
  /** Acquisitions. */
  readonly visits: number
  /** The share of the time in which a lock is held or on its way to the next holder. */
  readonly busy: number
  /** The share of the acquisitions that wait in line. */
  readonly contended: number
  /** ms from the call to the hold, the mean. */
  readonly wait: number
  readonly waiting: number
  readonly holds: number
  readonly requests: Requests
  readonly messages: number
}

/** ms between two polls of a waiter: 0.9 to 1 s. */
const POLL = 950
const POLL_DEVIATES = 29
/** ms. A subscription outlives its last waiter by this long. */
const LINGER = 2000
/** ms. What lasts longer is published. */
const LONG = 1000
/** ms. Waits that change are published this often at most. */
const SETTLES = 5000
/** ms between two questions for the server's replicas. */
const REPLICAS = 30_000
/** A third of the lease has so many windows in which the renewals of a client become one script. */
const WINDOWS = 10

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** From one holder of a lock to the next one: the hold, and a trip for the release and the message. */
const turnOf = ({ hold, trip }: Load): number => hold + trip

/** How many acquisitions a second all locks together can have. */
export const capacityOf = (load: Load): number => (1000 * load.locks) / turnOf(load)

/** If each client wants its lock again at once: all others come first. Its release takes a trip, too. */
const waitOfAll = (load: Load): number =>
  Math.max(load.trip, (load.clients / load.locks) * turnOf(load) - load.hold - load.trip)

/** How many of the clients that use a lock are others than the one that calls. */
const othersOf = ({ clients, locks }: Load): number => Math.max(0, 1 - locks / clients)

/** Of calls that come at random moments, each of which holds the lock for equally long: each waits for those that came before it. */
const waitAtRandom = (load: Load, busy: number): number => {
  const ahead = busy * othersOf(load)
  return busy < 1 ? load.trip + (turnOf(load) * ahead) / (2 * (1 - ahead)) : Infinity
}

/** How many polls a wait has: the pauses between them are not all alike. */
const pollsOf = (wait: number, trip: number): number => {
  const pause = POLL + trip
  if (wait > 1000 * pause) return wait / pause - 0.5
  const most = Math.ceil(wait / (pause - 4 * POLL_DEVIATES))
  return sum(
    Array.from({ length: most }, (_, i) => {
      const off = (wait - (i + 1) * pause) / (POLL_DEVIATES * Math.sqrt(i + 1))
      // The normal distribution, nearly.
      return 1 / (1 + Math.exp(-1.702 * off))
    }),
  )
}

/** An acquisition alone is two scripts. One that waits joins the line, is confirmed and released; it tries and subscribes first if it has not waited lately. */
const perVisit = ({ clients }: Load, visits: number, contended: number, wait: number): number => {
  const isFirst = visits * contended === 0 || (1000 * clients) / (visits * contended) - wait > LINGER
  return 2 + contended * (isFirst ? 4 : 1)
}

/** In how many ms a client waits again. */
const cycleOf = ({ clients }: Load, visits: number): number => (1000 * clients) / visits

/** Renewals of one client that are due at about the same time are one script. */
const renewalsOf = ({ clients, locks, hold, lease }: Load, visits: number): number => {
  const third = lease / 3
  const holders = Math.min(clients, locks)
  return Math.min(visits * Math.floor(hold / third), (1000 * holders * WINDOWS) / third)
}

const listingOf = (load: Load, visits: number, wait: number): number => {
  const heartbeat = load.lease / 3
  const cycle = cycleOf(load, visits)
  const forHolds = load.hold < LONG ? 0 : visits * (2 + Math.floor((load.hold - LONG) / heartbeat))
  if (wait < LONG) return forHolds
  const each = 1 + Math.floor((cycle - LONG) / heartbeat)
  return forHolds + (cycle < SETTLES ? (1000 * load.clients) / SETTLES : visits * each)
}

const heartbeatsOf = ({ clients, lease }: Load): number => clients * (2 / (lease / 3000) + 1000 / REPLICAS)

export const demandOf = (load: Load): Demand => {
  const capacity = capacityOf(load)
  const shared = load.clients > load.locks
  const busy = Math.min(1, load.rate / capacity)
  const visits = busy * capacity
  const contended = shared && busy === 1 ? 1 : busy * othersOf(load)
  const wait = shared ? Math.min(waitOfAll(load), waitAtRandom(load, busy)) : load.trip
  return {
    ...{ visits, busy, contended, wait },
    waiting: shared ? (visits * (wait - load.trip)) / 1000 : 0,
    holds: (visits * load.hold) / 1000,
    requests: {
      visits: visits * perVisit(load, visits, contended, wait),
      polls: shared ? visits * pollsOf(wait, load.trip) : 0,
      renewals: renewalsOf(load, visits),
      heartbeats: heartbeatsOf(load),
      listing: listingOf(load, visits, wait),
    },
    messages: visits * contended,
  }
}

export const requestsOf = ({ requests }: Demand): number => sum(Object.values(requests))
