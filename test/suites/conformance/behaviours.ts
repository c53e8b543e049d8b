/**
 * What Redisson's own tests, each by a number, expect of a lock, a count or a topic; and by `G-` what its users expect beyond
 * them. A test here says in its name which of them it is for: `L05 G-04: …`.
 */
export interface Section {
  readonly title: string
  /** From the first to the last, of each letter. */
  readonly ids: readonly (readonly [letters: string, from: number, to: number])[]
}

export const SECTIONS: readonly Section[] = [
  {
    title: 'Lock',
    ids: [
      ['L', 1, 26],
      ['H', 1, 2],
      ['X', 1, 3],
      ['E', 1, 4],
    ],
  },
  { title: 'Fair lock', ids: [['F', 1, 28]] },
  {
    title: 'Locks that are not re-entrant',
    ids: [
      ['N', 1, 3],
      ['NF', 1, 3],
    ],
  },
  { title: 'Fenced lock', ids: [['FE', 1, 1]] },
  {
    title: 'Spin lock',
    ids: [
      ['SP', 1, 23],
      ['SPO', 1, 2],
    ],
  },
  {
    title: 'Several locks as one',
    ids: [
      ['M', 1, 4],
      ['R', 1, 8],
    ],
  },
  { title: 'Keys of a group', ids: [['G', 1, 24]] },
  {
    title: 'Read-write lock',
    ids: [
      ['RW', 1, 32],
      ['RWE', 1, 1],
    ],
  },
  {
    title: 'Semaphores',
    ids: [
      ['S', 1, 17],
      ['P', 1, 30],
    ],
  },
  { title: 'Latch', ids: [['C', 1, 10]] },
  { title: 'Rate limiter', ids: [['RL', 1, 31]] },
  { title: 'Scripts', ids: [['SC', 1, 14]] },
  { title: 'Topics', ids: [['T', 1, 35]] },
  { title: 'What users expect beyond that', ids: [['G-', 1, 25]] },
]

/** How an id is written: one digit behind SPO and RWE, two behind the others. */
export const idsOf = ({ ids }: Section): string[] =>
  ids.flatMap(([letters, from, to]) =>
    Array.from({ length: to - from + 1 }, (_, index) => {
      const digits = letters === 'SPO' || letters === 'RWE' ? 1 : 2
      return letters + String(from + index).padStart(digits, '0')
    }),
  )

/** Behaviours that there is no test for, and why. */
export const REASONS: Readonly<Record<string, string>> = {
  SC01: 'Java only: Redisson’s client can rename commands, also within the text of a script; there is no such thing here',
  SC02: 'Java only: as SC01',
  T05: 'switched off in Redisson itself',
  T26: 'Java only: no names are watched in the background; each reconnect resolves them anew',
  T30: 'Java only: connections for messages may be with replicas there; here they are with masters',
  T35: 'Java only: as T30',
}

/** Where Redisson and holdfast differ on purpose. */
export interface Difference {
  readonly redisson: string
  readonly ours: string
  readonly right: string
  /** The test that pins it: its file, and how its name begins. */
  readonly pinned: readonly [file: string, name: string]
}

export const DIFFERENCES: readonly Difference[] = [
  {
    redisson: 'giving a fair lock, or a red-lock, back that nobody holds succeeds',
    ours: '`NotOwnerError`, as for every other kind',
    right: 'ours: a mistake is told',
    pinned: ['suites/contract/lock/ownership.ts', 'G-11: never locked'],
  },
  {
    redisson: '`unlock()` of a multi-lock of which its caller holds a part gives that part back, and fails',
    ours: '`NotOwnerError`, and the part stays held',
    right: 'ours: what fails has changed nothing',
    pinned: ['sync/multi-lock/multi-lock.test.ts', 'a part of it is held by its owner'],
  },
  {
    redisson: 'a lease stays with the lock object after it ran out, and shortens the next hold that has none',
    ours: 'a lease is the hold’s, never the object’s',
    right: 'ours: such a hold can be lost while it is renewed',
    pinned: ['suites/contract/lock/trust.ts', 'G-04: a lease that ran out'],
  },
  {
    redisson: 'a hold whose key is gone ends without a word',
    ours: 'its signal aborts, `lost` is told',
    right: 'ours: who works on must know',
    pinned: ['suites/contract/lock/trust.ts', 'G-02: the key deleted while held'],
  },
  {
    redisson: 'a dead waiter at the head of a fair queue stops all for its allowance',
    ours: 'a dead client is passed over at once, a silent one after 3 s',
    right: 'ours: a killed process stops nobody',
    pinned: ['sync/fair-lock/flaws.test.ts', 'nobody hears for the head'],
  },
  {
    redisson: 'deadlines, ends and windows are of the caller’s clock',
    ours: 'of the server’s',
    right: 'ours: clocks of a fleet differ',
    pinned: ['suites/contract/lock/fair.ts', 'G-25: clients whose clocks'],
  },
  {
    redisson: 'readers who overlap keep a writer out for ever',
    ours: 'the sides take turns',
    right: 'ours: nobody is forgotten',
    pinned: ['sync/read-write-lock/turns.test.ts', 'G-22: readers of two clients'],
  },
  {
    redisson: 'a reader that asks to write waits for itself; with a time limit it is `false` after that time',
    ours: '`DeadlockError` at once, with a time limit too; without a wait `tryLock` is `false`',
    right: 'ours: it could never end',
    pinned: ['sync/read-write-lock/read-write-lock.test.ts', 'who reads and would write'],
  },
  {
    redisson: 'those who wait for a latch wait on when it is deleted',
    ours: 'they are freed',
    right: 'ours: nobody is left to count it down',
    pinned: ['suites/contract/latches.test.ts', 'C05, C06, C07: set once; deleted'],
  },
  {
    redisson:
      'messages that wake nobody: a release that did nothing, permits below one; a forced read leaves its own keys',
    ours: 'nothing is told, nothing is left',
    right: 'ours: its own listeners fail on some of them',
    pinned: ['sync/lock/wire.test.ts', 'L08: forced open'],
  },
  {
    redisson: 'draining and adding drop a semaphore’s expiry; what a limiter got back is credited again later',
    ours: 'the expiry stays; the grant is taken out of the log',
    right: 'ours: permits would live for ever, or be had twice',
    pinned: ['suites/contract/semaphore/redisson.ts', 'S11: drained'],
  },
  {
    redisson: 'acquiring a lock again for less time ends all levels when that time is over',
    ours: 'each level ends by itself; the lock stays while one of them wants it',
    right: 'ours: the outer level still works under it',
    pinned: ['suites/contract/lock/reentrance.ts', 'G-04: a lease inside a renewed hold'],
  },
  {
    redisson:
      'a rate that is set without `keepAlive` leaves the expiry of the one before, and the limiter vanishes then',
    ours: 'the limiter stays',
    right: 'ours: all its callers would fail for no reason that they can see',
    pinned: ['suites/contract/rate-limiter/rates.ts', 'no keep-alive any more'],
  },
  {
    redisson:
      'arguments that cannot be right: `IllegalArgumentException`, `RedisException` with a script’s text, or accepted (a negative `trySetPermits`, a limiter’s `tryAcquire(-1)`)',
    ours: '`TypeError` or `RangeError` that names the argument, before anything is sent',
    right: 'ours: a mistake is reported where it was made',
    pinned: ['suites/contract/rate-limiter/rates.ts', 'G-05, G-23: bad arguments'],
  },
  {
    redisson:
      'a permit that is unknown or has expired: `RedisException`; one that never expires has a lease time of -1',
    ours: '`NotOwnerError`; `Infinity`',
    right: 'ours: code can tell them apart',
    pinned: ['suites/contract/permit-semaphore/redisson.ts', 'P17, P18, P26, P27: one of them unknown'],
  },
  {
    redisson: '`acquire` of a semaphore whose permits were never set waits for ever',
    ours: '`NotInitializedError`; with `waitForSetup` it waits until somebody sets them',
    right: 'ours: whoever forgot `trySetPermits` gets an error instead of hanging',
    pinned: ['suites/contract/semaphore/waiting.ts', 'no permits are set → acquire and using'],
  },
  {
    redisson: 'a limiter without a rate, or asked for more than its rate: `RedisException` with a script’s text',
    ours: '`NotInitializedError`, `RangeError`',
    right: 'ours: code can tell them apart',
    pinned: ['suites/contract/rate-limiter/rates.ts', 'G-25: before a rate is set'],
  },
  {
    redisson: 'a single try asks the server each time',
    ours: 'while a hold of the same process is younger than 58 ms it is believed; a try right after another process took that hold by force may be refused once',
    right: 'a matter of cost: no trip for each of the calls that find the lock taken here',
    pinned: ['suites/guide/promises.test.ts', 'taken by force elsewhere in the turn of a hold'],
  },
  {
    redisson: 'the token of a fenced lock that was never held is 0; nil in a script’s list is `null`',
    ours: '`undefined`, for both',
    right: 'a matter of language',
    pinned: ['suites/contract/ported.test.ts', 'what does not exist is undefined'],
  },
]
