import type { CallEvent, HistoryEvent, HistoryOptions, Rule } from 'holdfast/testing'

export interface Written {
  readonly name: string
  readonly events: readonly HistoryEvent[]
  readonly options: HistoryOptions
}

export interface Broken extends Written {
  readonly rule: Rule
  readonly first: HistoryEvent
  readonly second: HistoryEvent
}

/**
 * A line is `at process call what key=value …`, or `at..to what key=value …` for the world. The lock is `x`.
 * The two events that contradict one another are marked with `!`.
 */
const eventOf = (line: string): HistoryEvent => {
  const words = line.split(/\s+/).filter((word) => word !== '!')
  const pairs = words.filter((word) => word.includes('=')).map((word) => word.split('=') as [string, string])
  const more = Object.fromEntries(pairs.map(([key, value]) => [key, /until|lease/.test(key) ? Number(value) : value]))
  const [time = '', ...plain] = words.filter((word) => !word.includes('='))
  const [at = 0, to] = time.split('..').map(Number)
  if (to !== undefined) return { at, to, what: plain[0], ...more } as HistoryEvent
  const [process, call, what] = plain
  return { at, process, call, what, name: 'x', ...more } as CallEvent
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

const written = (name: string, text: string, options: HistoryOptions = {}): Written => ({
  name,
  events: linesOf(text).map(eventOf),
  options,
})

const wrong = (rule: Rule, name: string, text: string, options: HistoryOptions = {}): Broken => {
  const { events } = written(name, text)
  const marked = linesOf(text).flatMap((line, index) => (line.includes('!') ? [events[index] as HistoryEvent] : []))
  const [first, second = first] = marked
  if (first === undefined || second === undefined) throw new Error(`${name}: no event is marked`)
  return { name, events, options, rule, first, second }
}

export const good: readonly Written[] = [
  written('nothing at all', ''),
  written(
    'one after the other',
    `0 p 1 invoke
     1 p 1 granted until=100 token=1
     5 q 2 invoke
     50 p 1 checked until=150
     60 p 1 releasing
     61 q 2 granted until=160 token=2
     62 p 1 released
     70 q 2 releasing
     71 q 2 released`,
  ),
  written(
    'released and granted in one and the same millisecond, in this order',
    `0 p 1 invoke
     0 q 2 invoke
     0 p 1 granted until=100
     9 p 1 releasing
     9 q 2 granted until=100
     9 p 1 released
     9 q 2 releasing
     9 q 2 released`,
  ),
  written(
    'a holder that was stopped: its claim ended with its word, it learns of it on waking',
    `0 p 1 invoke
     1 p 1 granted until=100
     2..300 trouble process=p note=stopped
     5 q 2 invoke
     110 q 2 granted until=210
     120 q 2 releasing
     121 q 2 released
     300 p 1 checked until=300
     300 p 1 lost`,
  ),
  written(
    'a holder that died: the next one has it when the lease is over',
    `0 p 1 invoke lease=2000
     1 p 1 granted until=100
     3 q 2 invoke
     4 p 1 crashed
     2004 q 2 granted until=2100
     2010 q 2 releasing
     2011 q 2 released`,
  ),
  written(
    'a call that died unheard may have had it for a lease',
    `0 p 1 invoke lease=2000
     3 q 2 invoke
     4 p 1 crashed
     2004 q 2 refused`,
  ),
  written(
    'taken by force: the holder from before believes in it until it is told',
    `0 p 1 invoke
     1 p 1 granted until=100 token=1
     10..11 forced name=x
     12 q 2 invoke
     13 q 2 granted until=113 token=2
     30 p 1 checked until=100
     35 p 1 lost
     40 q 2 releasing
     41 q 2 released`,
    { noticedWithin: 30 },
  ),
  written(
    'the server lost its data: tokens begin anew',
    `0 p 1 invoke
     1 p 1 granted until=100 token=7
     10..20 wiped note=restarted
     22 q 2 invoke
     23 q 2 granted until=113 token=1
     40 q 2 releasing
     41 q 2 released
     42 p 1 lost`,
  ),
  written(
    'readers together, the writer alone',
    `0 p 1 invoke mode=shared
     1 p 1 granted until=100
     2 q 2 invoke mode=shared
     3 q 2 granted until=100
     4 r 3 invoke
     5 p 1 releasing
     6 p 1 released
     7 q 2 releasing
     8 r 3 granted until=108
     9 q 2 released
     10 r 3 releasing
     11 r 3 released`,
  ),
  written(
    'one owner twice',
    `0 p 1 invoke owner=me
     1 p 1 granted until=100 token=1
     2 p 2 invoke owner=me
     3 p 2 granted until=100 token=2
     4 p 2 releasing
     5 p 2 released
     6 p 1 releasing
     7 p 1 released`,
  ),
  written(
    'queued first, and overtaken because it left, was out of reach, or reads beside a reader',
    `0 p 0 invoke
     1 p 0 granted until=100
     2 p 1 invoke
     3 p 1 queued
     4 q 2 invoke mode=shared
     5 q 2 queued
     5 q 3 invoke
     5 q 3 queued
     6 r 4 invoke mode=shared
     7 r 4 queued
     8..40 trouble process=q
     9 p 0 releasing
     10 p 0 released
     12 p 1 refused
     14 r 4 granted until=100
     20 r 4 releasing
     21 r 4 released
     60 q 2 granted until=100
     61 q 2 releasing
     62 q 2 released
     63 q 3 granted until=100
     64 q 3 releasing
     65 q 3 released`,
  ),
  written(
    'waited long for a free lock, but out of reach nearly all the time',
    `0 p 1 invoke
     1..1900 trouble process=p
     2000 p 1 granted until=2100
     2001 p 1 releasing
     2002 p 1 released`,
  ),
  written(
    'cut off in the middle',
    `0 p 1 invoke
     1 p 1 granted until=100
     5 q 2 invoke`,
    { unfinished: true },
  ),
]

export const broken: readonly Broken[] = [
  wrong(
    'exclusion',
    'two granted, neither gave it up',
    `0 p 1 invoke
     1 p 1 granted until=100 !
     2 q 2 invoke
     50 q 2 granted until=150 !
     60 q 2 releasing
     61 q 2 released
     70 p 1 releasing
     71 p 1 released`,
  ),
  wrong(
    'exclusion',
    'granted a moment before the trust of the other was over',
    `0 p 1 invoke
     1 p 1 granted until=50
     40 p 1 checked until=100 !
     41 q 2 invoke
     99.9 q 2 granted until=200 !
     100 p 1 lost
     120 q 2 releasing
     121 q 2 released`,
  ),
  wrong(
    'exclusion',
    'granted in the millisecond of the release, but before it',
    `0 p 1 invoke
     0 q 2 invoke
     0 p 1 granted until=100 !
     9 q 2 granted until=100 !
     9 p 1 releasing
     9 p 1 released
     9 q 2 releasing
     9 q 2 released`,
  ),
  wrong(
    'exclusion',
    'stopped, and on waking it says that it is held, though another had it meanwhile',
    `0 p 1 invoke
     1 p 1 granted until=100
     2..300 trouble process=p note=stopped
     5 q 2 invoke
     110 q 2 granted until=210 !
     120 q 2 releasing
     121 q 2 released
     300 p 1 checked until=400 !
     310 p 1 releasing
     311 p 1 released`,
  ),
  wrong(
    'exclusion',
    'a writer beside a reader',
    `0 p 1 invoke mode=shared
     1 p 1 granted until=100 !
     2 q 2 invoke
     3 q 2 granted until=100 !
     4 q 2 releasing
     5 q 2 released
     6 p 1 releasing
     7 p 1 released`,
  ),
  wrong(
    'exclusion',
    'a reader beside a writer',
    `0 p 1 invoke
     1 p 1 granted until=100 !
     2 q 2 invoke mode=shared
     3 q 2 granted until=100 !
     4 q 2 releasing
     5 q 2 released
     6 p 1 releasing
     7 p 1 released`,
  ),
  wrong(
    'exclusion',
    'taken by force, and not told for too long',
    `0 p 1 invoke
     1 p 1 granted until=100
     10..11 forced name=x
     12 q 2 invoke
     13 q 2 granted until=113 !
     50 p 1 checked until=100 !
     51 p 1 lost
     60 q 2 releasing
     61 q 2 released`,
    { noticedWithin: 30 },
  ),
  wrong(
    'exclusion',
    'taken by force before either was granted: no excuse',
    `0 p 1 invoke
     1..2 forced name=x
     3 p 1 granted until=100 !
     12 q 2 invoke
     13 q 2 granted until=113 !
     60 q 2 releasing
     61 q 2 released
     62 p 1 releasing
     63 p 1 released`,
  ),
  wrong(
    'exclusion',
    'another lock was taken by force: no excuse',
    `0 p 1 invoke
     1 p 1 granted until=100 !
     5..6 forced name=y
     12 q 2 invoke
     13 q 2 granted until=113 !
     60 q 2 releasing
     61 q 2 released
     62 p 1 releasing
     63 p 1 released`,
  ),
  wrong(
    'trust',
    'lost, and held again',
    `0 p 1 invoke
     1 p 1 granted until=100
     50 p 1 checked until=50 !
     60 p 1 checked until=160 !
     70 p 1 releasing
     71 p 1 released`,
  ),
  wrong(
    'fencing',
    'a token twice',
    `0 p 1 invoke
     1 p 1 granted until=100 token=5 !
     2 p 1 releasing
     3 p 1 released
     4 q 2 invoke
     5 q 2 granted until=100 token=5 !
     6 q 2 releasing
     7 q 2 released`,
  ),
  wrong(
    'fencing',
    'a token that went down, told against the greatest before',
    `0 p 1 invoke
     1 p 1 granted until=100 token=10 !
     2 p 1 releasing
     3 p 1 released
     4 q 2 invoke
     5 q 2 granted until=100 token=9 !
     6 q 2 releasing
     7 q 2 released`,
  ),
  wrong(
    'fairness',
    'queued first, served last',
    `0 p 0 invoke
     1 p 0 granted until=100
     2 q 1 invoke
     3 q 1 queued !
     4 r 2 invoke
     5 r 2 queued
     6 p 0 releasing
     7 p 0 released
     8 r 2 granted until=100 !
     9 r 2 releasing
     10 r 2 released
     11 q 1 granted until=100
     12 q 1 releasing
     13 q 1 released`,
  ),
  wrong(
    'fairness',
    'a reader before a writer that stood in the queue',
    `0 p 0 invoke mode=shared
     1 p 0 granted until=100
     2 q 1 invoke
     3 q 1 queued !
     4 r 2 invoke mode=shared
     8 r 2 granted until=100 !
     9 r 2 releasing
     10 r 2 released
     11 p 0 releasing
     12 p 0 released
     13 q 1 granted until=100
     14 q 1 releasing
     15 q 1 released`,
  ),
  wrong(
    'forgotten',
    'a waiter that nobody woke',
    `0 p 1 invoke
     1 p 1 granted until=100
     2 q 2 invoke
     3 p 1 releasing
     4 p 1 released !
     1500 q 2 granted until=1600 !
     1501 q 2 releasing
     1502 q 2 released`,
  ),
  wrong(
    'forgotten',
    'free from the beginning, and refused after a long time',
    `0 q 2 invoke !
     1500 q 2 refused !`,
  ),
  wrong(
    'forgotten',
    'a dead holder’s lease is over, and nobody is let in',
    `0 p 1 invoke lease=100
     1 p 1 granted until=90
     2 q 2 invoke
     3 p 1 crashed !
     10..200 trouble process=q
     1500 q 2 refused !`,
  ),
  wrong('endless', 'a call that never came back', `0 p 1 invoke !`),
  wrong(
    'endless',
    'a hold that nobody ended',
    `0 p 1 invoke
     1 p 1 granted until=100 !
     2 q 2 invoke
     3 q 2 refused !`,
  ),
  wrong('order', 'granted without a call', `1 p 1 granted until=100 !`),
  wrong(
    'order',
    'released though lost',
    `0 p 1 invoke
     1 p 1 granted until=100
     2 p 1 lost !
     3 p 1 released !`,
  ),
  wrong(
    'order',
    'a call that changes its lock',
    `0 p 1 invoke !
     1 p 1 granted name=y until=100 !
     2 p 1 refused`,
  ),
]
