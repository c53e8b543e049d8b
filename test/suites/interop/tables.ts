/**
 * Measures wake-ups, and tries which kind works with which Redisson; writes the tables into interop/README.md and docs/redisson.md,
 * each between its marks: `npm run interop:tables [-- wake-ups|versions]`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { type ClientOptions, ConfigError } from 'holdfast'
import { Redis } from 'ioredis'
import { startRedis } from '../../support/redis-server.js'
import { cast, CASTS, compare, Company, type Row } from './state-table/suite.js'
import { type Program, stepsOf } from './support/programs.js'
import { fair, locks, shared } from './state-table/rows.js'
import { ofSeveral } from './state-table/several.js'
import { NEWEST, type Redisson, startRedisson } from './support/redisson.js'
import { DIRECTIONS, everyDirection, WAKINGS } from './wake-ups/wakings.js'

interface Place {
  readonly url: string
  readonly redis: Redis
  readonly java: Redisson
}

const at = async <T>(version: string, work: (place: Place) => Promise<T>): Promise<T> => {
  const server = await startRedis()
  const redis = new Redis(server.url)
  const java = await startRedisson({ url: server.url, version })
  try {
    return await work({ url: server.url, redis, java })
  } finally {
    await java.kill()
    redis.disconnect()
    await server.stop()
  }
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const wakeUps = (): Promise<string> =>
  at(NEWEST, async (place) => {
    const rows: string[][] = []
    for (const waking of WAKINGS) {
      const cells: string[] = [waking.title]
      await everyDirection(place, waking, {}, (_, middle) => cells.push(middle.toFixed(1)))
      rows.push(cells)
      console.log(cells.join(', '))
    }
    return [
      `Each number is a median in ms, measured beside Redisson ${NEWEST}: from the release until the waiter holds the lock. If Java takes part, it includes`,
      'the way to the Java driver and back, a fraction of a millisecond, and the time in which the Java virtual machine wakes a thread.',
      '',
      table(['what is waited for', ...DIRECTIONS.map(([frees, waits]) => `${frees} → ${waits}`)], rows),
    ].join('\n')
  })

const VERSIONS: readonly (readonly [version: string, redisson: ClientOptions['redisson']])[] = [
  [NEWEST, '4'],
  ['3.52.0', '4'],
  ['3.20.1', '4'],
  ['3.17.7', '3.17'],
  ['3.16.8', '3.16'],
  ['3.8.1', '3.8'],
]

const MISSING = /NoSuchMethodException|ClassNotFound|no such kind/

/** Which leave their notes of releases until they expire. */
const LEAVING = ['3.52.0']

/** Whether this version has it at all. */
const isThere = async (place: Place, company: Company, program: Program): Promise<boolean> => {
  const [who = '', operation = '', ...args] = (stepsOf(program)[0] ?? '').split(' ')
  const actor = (await company.cast(place, program, cast('jjjj')))[who]
  const result = await actor?.run('probe', operation, args.map(Number))
  return !MISSING.test(String(result))
}

/** Plays the first programs of a row: whether all was the same, or what there is not. */
const verdict = async (place: Place, row: Row): Promise<string> => {
  const company = new Company(row)
  try {
    let [tried, lacking] = [0, 0]
    for (const program of Object.values(row.programs).slice(0, 3)) {
      if (!(await isThere(place, company, program))) return 'not there'
      await place.redis.flushall()
      const found = await compare(place, company, program)
      tried += 1
      if (found.some((text) => MISSING.test(text))) lacking += 1
      else if (found.some((text) => text.includes('ConfigError'))) return 'refused'
      else if (found.length > 0) {
        console.log(found.join('\n'))
        return 'differs'
      }
    }
    return lacking === 0 ? 'the same' : lacking < tried ? 'the same, as far as it has it' : 'not there'
  } catch (error) {
    if (error instanceof ConfigError) return 'refused'
    throw error
  } finally {
    await company.close().catch(() => undefined)
    await place.redis.flushall()
  }
}

/** What it is called there and here. */
const TITLES: Readonly<Record<string, string>> = {
  plain: '`getLock` · `lock`',
  nonReentrant: '`getNonReentrantLock` · `nonReentrantLock`',
  spin: '`getSpinLock` · `spinLock`',
  fenced: '`getFencedLock` · `fencedLock`',
  'keyed:a,b': '`getMultiLock(group, values)` · `keyedLock`',
  fair: '`getFairLock` · `fairLock`',
  nonReentrantFair: '`getNonReentrantFairLock` · `nonReentrantFairLock`',
  'multi:plain,plain,plain': '`getMultiLock(locks)` · `multiLock`',
  'red:plain,plain,plain': '`getRedLock` · `redLock`',
  readWrite: '`getReadWriteLock` · `readWriteLock`',
  semaphore: '`getSemaphore` · `semaphore`',
  permits: '`getPermitExpirableSemaphore` · `permitSemaphore`',
  latch: '`getCountDownLatch` · `countDownLatch`',
  limiter: '`getRateLimiter` · `rateLimiter`',
}

const versions = async (): Promise<string> => {
  const rows = [...locks, ...fair, ...ofSeveral, ...shared].filter(({ partly }) => partly !== true)
  const kinds = [...new Set(rows.map(({ both }) => both.kind))]
  const verdicts = new Map(kinds.map((kind) => [kind, [] as string[]]))
  for (const [version, redisson] of VERSIONS) {
    await at(version, async (place) => {
      for (const kind of kinds) {
        const row = rows.find(({ both }) => both.kind === kind) as Row
        const found = await verdict(place, {
          ...row,
          casts: CASTS,
          ours: { ...row.ours, redisson },
          latches: LEAVING.includes(version) ? 'stay' : 'go',
        })
        verdicts.get(kind)?.push(found)
        console.log(`${version}: ${kind}: ${found}`)
      }
    })
  }
  return table(
    ['kind', ...VERSIONS.map(([version, redisson]) => `${version}, \`redisson: '${redisson ?? ''}'\``)],
    kinds.map((kind) => [TITLES[kind] ?? kind, ...(verdicts.get(kind) ?? [])]),
  )
}

const TABLES = {
  'wake-ups': { page: 'interop/README.md', make: wakeUps },
  versions: { page: 'docs/redisson.md', make: versions },
}

const wanted = process.argv.slice(2)
for (const [name, { page, make }] of Object.entries(TABLES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const file = fileURLToPath(new URL(`../../../../${page}`, import.meta.url))
  const text = readFileSync(file, 'utf8')
  const marks = new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- end of ${name} -->)`)
  if (!marks.test(text)) throw new Error(`${page} has no marks for ${name}`)
  const made = await make()
  // Others may have written to it meanwhile.
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(marks, (_, before: string, after: string) => `${before}\n${made}\n\n${after}`),
  )
}
process.exit(0)
