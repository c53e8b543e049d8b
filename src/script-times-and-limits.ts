/**
 * The numbers that several scripts share, or scripts and the client. In a .lua file, the same name stands for the value, which `scripts/build-lua.mjs`
 * writes into the script's text. It evaluates this file as it is, so the file contains only constants. A number that only one file uses is in that
 * file.
 */

// Time, in ms.

/** How long the server keeps a grant that has not been confirmed. */
export const TRIAL = 3000
/** Waiters ask at least this often. So a lost message costs one poll, and no living waiter counts as dead. */
export const POLL = TRIAL / 3
/** How long a process may pass on what it was granted without asking the server, before other processes are due. */
export const PASS_TIME = 58
/** A place in a line, except the fair lock's, is overdue if its process has not asked for this long. */
export const ALLOWANCE = 10_000
/** A place in a rate limiter's line does not count as one if it says that it asks further away from now than this. */
export const RATE_ALLOWANCE = 60_000
/** How long a note is kept: no copy of a step that was sent comes later than this after the last one. */
export const NOTE_TIME = 120_000
/** How long a note is kept if permits may have to be returned with it. */
export const LONG_NOTE_TIME = 3_600_000
/** How long the line of a semaphore is kept after the last question. */
export const AMOUNTS_TIME = 604_800_000
/** The same for the line of a rate limiter. */
export const RATE_LINE_TIME = 120_000

// Outsiders: clients that know of no line.

/** For this long, an outsider that had the lock, or permits that were left to it, is expected to come again. */
export const COMES_AGAIN = 3000
/** How long the key of the turn is kept: longer than anything known about outsiders. */
export const TURN_TIME = 4500
/** For this long after permits came back that no client in the line had released, outsiders are known to exist. */
export const GAVE_TIME = 10_000
/** The first waiter for permits listens to outsiders after it has waited for this long. */
export const LISTENS_AFTER = 30

// Marks: the meaning of a fraction that is added to a deadline in whole ms.

/** Granted, or skipped because no client heard the grant. For permits, their count is added, in units of `1 / GRANT_UNITS`. */
export const GRANTED = 0.5
/** The deadline of a trial that began at 0. */
export const TRIAL_MARKED = TRIAL + GRANTED
/** The most permits that a mark can count: as many as one step grants if they have ids. The mark stays below `UNCOUNTED`. */
export const MOST_GRANTED = 600
export const GRANT_UNITS = 4096
/** The client hears messages, although the server does not count it as a subscriber. */
export const UNCOUNTED = 0.75
/** The client hears no messages. */
export const HEARS_NOTHING = 0.875
/** The client listens to outsiders' messages, so it is counted there without being an outsider. */
export const LISTENS = 0.25
/** The client will listen there after it has waited for `LISTENS_AFTER`. */
export const WILL_LISTEN = 0.125
/** The marks of the fair lock say when they were made, in steps of this many ms. */
export const MARK_STEP = 4
/** A step is `1 / MARK_UNITS`, and the first is not 0. After `MARK_STEPS` of them, 16 s, they begin again. */
export const MARK_UNITS = 4096
export const MARK_STEPS = MARK_UNITS - 1

// The line of a rate limiter, in ms.

/** A place is skipped if its process has not asked this long after the announced time. */
export const LATE = 300
/** The first number of ms that is too late. */
export const IS_LATE = LATE + 1
/** By then a place is skipped for sure, however long its process's commands take to arrive. */
export const SURELY_LATE = LATE + 10
/** The longest pause of a process far back in the line. */
export const LONGEST_PAUSE = 30_000

// How much one script looks at.

/** The most places of a line that are checked for dead clients, or moved: more than a walk passes. */
export const LINE_REMOVED = 1000
/** The most places that one script searches for waiters that leave. */
export const LINE_SEARCHED = 30_000

/** The keys of reads, one for each level. */
export const READS_LOOKED_AT = 2000
/** The fields of a keyed lock that waiters want. */
export const FIELDS_LOOKED_AT = 1500
/** If a count of levels is higher than this, missing keys show that another program wrote it. */
export const LEVELS_TRUSTED = 1000
/** How many waiters an inspection shows at a time; for a keyed lock, with the keys that each one wants. */
export const WAITERS_PART = 500
export const KEYED_PART = 100

// How values are written.

/** The longest value of a flight or a leader, in characters: 16 MiB in base64. */
export const LONGEST_VALUE = 22_369_624

/** How many times an owner holds a lock, as a Lua pattern: up to 9999, the limit of a tenure. */
export const LEVEL_COUNT = '^[1-9]%d?%d?%d?$'
/** A name of this length or more in a line was written by another program. */
export const LONGEST_NAME = 100
/** If members of a sorted set or places of a line come to more bytes than this, a script reads no more of them. */
export const LONGEST_READ = 500_000
/** The longest entry of a client's index, in bytes. */
export const LONGEST_ENTRY = 100_000
/** A grant of a rate limiter: one byte with the length of its id, the id, and four bytes for the number of permits. */
export const LONGEST_GRANT = 1 + 255 + 4
/** The length of a field of a keyed lock, the hash of a key; and the length with the blank after it. */
export const FIELD = 22
export const FIELD_AND_BLANK = FIELD + 1
/** The end of a permit that never expires, as Redisson writes it. */
export const NEVER = '922337203685477'
/**
 * Scripts count and reply up to this number. From 2^53 on, numbers are not exact in Lua and in JavaScript, and ioredis 6 misreads the last ones below
 * that.
 */
export const MAX_SAFE_INTEGER = 9_000_000_000_000_000
