/**
 * The numbers on which several scripts agree, or scripts and the client. In a .lua file the same name stands for the value, which
 * `scripts/build-lua.mjs` writes into the script's text; it evaluates this file as it is, so there are constants here and nothing else.
 * A number that one file alone has stands in that file.
 */

// Time, in ms.

/** How long the server keeps a grant that has not been confirmed. */
export const TRIAL = 3000
/** Whoever waits asks at least so often: a lost message costs a poll, and no living waiter is taken for dead. */
export const POLL = TRIAL / 3
/** How long a process may pass on what it was granted, without asking the server, before other processes are due. */
export const PASS_TIME = 58
/** A place in a line, save the fair lock's, is overdue when its process has not asked for so long. */
export const ALLOWANCE = 10_000
/** A place in the line of a rate limiter is not known to be one when it says that it asks further away from now than this. */
export const RATE_ALLOWANCE = 60_000
/** How long a note lasts: no copy of a step that was sent comes later than this after the last. */
export const NOTE_TIME = 120_000
/** How long the notes last that permits may have to be given back by. */
export const LONG_NOTE_TIME = 3_600_000
/** How long the line of a semaphore is kept in which nobody asks any more. */
export const AMOUNTS_TIME = 604_800_000
/** The same for the line of a rate limiter. */
export const RATE_LINE_TIME = 120_000

// Outsiders: clients that know of no line.

/** An outsider that had the lock, or permits that were left to it, counts as one who comes again for so long. */
export const COMES_AGAIN = 3000
/** The key that says whose turn it is outlasts all that is known of them. */
export const TURN_TIME = 4500
/** Permits that nobody in the line gave back show for so long that there are outsiders who do. */
export const GAVE_TIME = 10_000
/** Whoever is first among those who wait for permits listens to outsiders when it has waited for so long. */
export const LISTENS_AFTER = 30

// Marks: what a fraction says that is added to a deadline in whole ms.

/** Granted, or passed over because nobody heard that; of permits, the count is added, in units of `1 / GRANT_UNITS`. */
export const GRANTED = 0.5
/** The deadline of a trial begun at 0. */
export const TRIAL_MARKED = TRIAL + GRANTED
/** Of how many permits a mark can tell: as many as one step grants where they have ids. It stays below `UNCOUNTED`. */
export const MOST_GRANTED = 1000
export const GRANT_UNITS = 4096
/** It hears messages although the server does not count it as a subscriber. */
export const UNCOUNTED = 0.75
/** It hears no messages. */
export const HEARS_NOTHING = 0.875
/** It listens where outsiders do, so that it is none of them though it is counted there. */
export const LISTENS = 0.25
/** It will, when it has waited for `LISTENS_AFTER`. */
export const WILL_LISTEN = 0.125
/** The fair lock's marks say when they were made: in steps of so many ms, */
export const MARK_STEP = 4
/** of which there are `MARK_STEPS` before they begin again, 16 s; a step is `1 / MARK_UNITS`, and the first is not 0. */
export const MARK_UNITS = 4096
export const MARK_STEPS = MARK_UNITS - 1

// The line of a rate limiter, in ms.

/** Whoever has not asked so long after it said it would is passed over. */
export const LATE = 300
/** So late it is passed over already, */
export const IS_LATE = LATE + 1
/** and so late surely, whatever the way to the server takes. */
export const SURELY_LATE = LATE + 10
/** Whoever is far behind sleeps for so long at most. */
export const LONGEST_PAUSE = 30_000

// How much one script looks at.

/** So many places of a line are looked through for those of dead clients, or moved: more than a walk passes. */
export const LINE_REMOVED = 1000
/** So many places one script searches for those who leave. */
export const LINE_SEARCHED = 30_000

/** The keys of reads, one for each level. */
export const READS_LOOKED_AT = 2000
/** The fields of a keyed lock that waiters want. */
export const FIELDS_LOOKED_AT = 1500
/** Of a count of levels that is higher, keys that are missing show that another program wrote it. */
export const LEVELS_TRUSTED = 1000
/** The waiters that an inspection shows at a time; of a keyed lock, with what each wants. */
export const WAITERS_PART = 500
export const KEYED_PART = 100

// How values are written.

/** The longest value of a flight, as characters: 16 MiB in base64. */
export const LONGEST_FLIGHT_VALUE = 22_369_624

/** How often an owner holds a lock, as a Lua pattern: up to 9999 times, which is as often as a tenure allows. */
export const LEVEL_COUNT = '^[1-9]%d?%d?%d?$'
/** Whose name in a line is so long was written there by another program. */
export const LONGEST_NAME = 100
/** A grant of a rate limiter: a byte that says how long its id is, the id, and four bytes for how many permits. */
export const LONGEST_GRANT = 1 + 255 + 4
/** The length of a field of a keyed lock, the hash of a key; and with the blank behind it. */
export const FIELD = 22
export const FIELD_AND_BLANK = FIELD + 1
/** The end of a permit that does not expire, as Redisson writes it. */
export const NEVER = '922337203685477'
/** Scripts count and reply up to here: from 2^53 on numbers are not exact in Lua and in JavaScript, and ioredis 6 misreads the last ones below that. */
export const MAX_SAFE_INTEGER = 9_000_000_000_000_000
