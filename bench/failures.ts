import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './base/paths.js'
import { median } from './base/stats.js'
import { asLines, asMarkdown } from './output/table.js'
import { failures, type Failure, type Shown } from './failures/failures.js'
import { LEASE, Stage } from './failures/stage.js'
import { holdfast } from './participants/holdfast.js'
import type { Participant } from './participants/participant.js'
import { redisSemaphore } from './participants/redis-semaphore.js'
import { redlock5 } from './participants/redlock-5.js'
import { sesamecareRedlock } from './participants/sesamecare-redlock.js'

const PAGE = 'docs/comparison.md'
const MARK = /(?<=<!-- failures -->\n)[\s\S]*?(?=<!-- \/failures -->)/

/** Those that renew a lock in Node. */
const compared: readonly Participant[] = [holdfast, redisSemaphore, redlock5, sesamecareRedlock]

const once = async (participant: Participant, failure: Failure): Promise<Shown> => {
  const stage = await Stage.open(participant)
  try {
    return await failure.run(stage)
  } finally {
    await stage.close()
  }
}

/** Of several runs the middle one of each figure. */
const several = async (participant: Participant, failure: Failure, rounds: number): Promise<Shown> => {
  const shown: Shown[] = []
  for (let round = 0; round < rounds; round++) shown.push(await once(participant, failure))
  const both = shown.flatMap((one) => one.both ?? [])
  return { next: median(shown.map(({ next }) => next)), ...(both.length > 0 && { both: median(both) }) }
}

const text = ({ next, both }: Shown): string => {
  const free = `next after ${next.toFixed(2)} s`
  if (both === undefined) return free
  if (both === Infinity) return `${free}; the first does not know after 12 s`
  return both < 0 ? `${free}; the first knows ${(-both).toFixed(2)} s before` : `${free}; both for ${both.toFixed(2)} s`
}

/** Each library in each failure, beside each other, since they mostly wait: `npm run bench -- failures`. */
export const compareFailures = async (rounds: number, log: (text: string) => void): Promise<void> => {
  const there = compared.filter((participant) => participant.version() !== undefined)
  const rows: string[][] = []
  for (const failure of failures) {
    log(failure.title)
    const cells = await Promise.all(there.map(async (one) => text(await several(one, failure, rounds))))
    rows.push([failure.title, ...cells])
  }
  const heads = ['', ...there.map((one) => `${one.name} ${one.version()}`)]
  console.log(asLines([heads, ...rows], [0, 1, 2, 3, 4]).join('\n'))
  if (there.length < compared.length) return console.log('Not all libraries are installed, so nothing is written.')
  const notes = failures.map(({ title, about }) => `- *${title}.* ${about}`).join('\n')
  const table = asMarkdown([heads, ...rows], [0, 1, 2, 3, 4])
  const found = `\nEach lease is ${LEASE / 1000} s, and each figure the middle one of ${rounds} runs.\n\n${table}\n\n${notes}\n\n`
  const page = join(root, PAGE)
  writeFileSync(
    page,
    readFileSync(page, 'utf8').replace(MARK, () => found),
  )
  console.log(`\nWritten: ${PAGE}`)
}
