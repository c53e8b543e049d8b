import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Stay } from '../../../support/history.js'
import type { WorkEvent } from './java-lock.js'

const PROGRAM = fileURLToPath(new URL('lock-worker.js', import.meta.url))

/** All events of one process. */
export interface History {
  readonly who: string
  readonly events: WorkEvent[]
}

/** One process of ours that works on a lock. */
export interface NodeWork {
  readonly child: ChildProcess
  readonly events: WorkEvent[]
  /** Rejects when it ended otherwise than well. */
  readonly ended: Promise<void>
}

export const startNodeWork = (url: string, kind: string, name: string, options: object): NodeWork => {
  const child = spawn(process.execPath, [PROGRAM, url, kind, name, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  const events: WorkEvent[] = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    // A killed process may leave its last line unfinished.
    if (line.endsWith('}')) events.push(JSON.parse(line) as WorkEvent)
  })
  const ended = once(child, 'close').then(([code, signal]) => {
    process.off('exit', kill)
    assert.equal(code, 0, `ended with ${String(code ?? signal)}`)
  })
  return { child, events, ended }
}

export const nodeWork = async (url: string, kind: string, name: string, options: object): Promise<WorkEvent[]> => {
  const { events, ended } = startNodeWork(url, kind, name, options)
  await ended
  return events
}

const nanoseconds = (ms: number): bigint => BigInt(Math.round(ms * 1e6))

/** From when a worker knew that it was in, until it began to leave. */
export const staysOf = ({ who, events }: History): Stay[] => {
  const since = new Map<string, number>()
  const stays: Stay[] = []
  for (const { worker, event, at } of events) {
    if (event === 'granted') since.set(worker, at)
    const from = since.get(worker)
    if (event !== 'releasing' || from === undefined) continue
    since.delete(worker)
    stays.push({ who: `${who}/${worker}/${stays.length}`, from: nanoseconds(from), to: nanoseconds(at) })
  }
  return stays
}

const EXPECTED = ['timeout', 'abort']

const longestWait = ({ events }: History): number => {
  const asked = new Map<string, number>()
  let longest = 0
  for (const { worker, event, at } of events) {
    if (event === 'invoke') asked.set(worker, at)
    if (event === 'granted') longest = Math.max(longest, at - (asked.get(worker) ?? at))
  }
  return longest
}

const visits = (histories: readonly History[]): number =>
  histories.reduce((sum, { events }) => sum + events.filter(({ event }) => event === 'granted').length, 0)

/** What part of all visits was Redisson's. */
export const redissonsShare = (histories: readonly History[]): string => {
  const theirs = visits(histories.filter(({ who }) => who.startsWith('java')))
  return `Redisson’s share: ${((100 * theirs) / visits(histories)).toFixed(1)} % of ${visits(histories)} visits`
}

/** Checks that nobody was forgotten and nothing failed; says what was seen. */
export const linesOf = (histories: readonly History[]): string[] =>
  histories.map((history) => {
    const count = (event: WorkEvent['event']): number => history.events.filter((one) => one.event === event).length
    const [invoked, granted, refused] = [count('invoke'), count('granted'), count('refused')]
    assert.equal(invoked, granted + refused, `${history.who}: a call that never ended`)
    const failed = history.events.filter(({ event }) => event === 'failed' || event === 'lost')
    assert.deepEqual(failed, [], `${history.who}: a release that failed`)
    const strange = history.events.filter(
      ({ event, reason }) => event === 'refused' && !EXPECTED.includes(reason ?? ''),
    )
    assert.deepEqual(strange, [], `${history.who}: refused for another reason`)
    const workers = new Set(history.events.map(({ worker }) => worker))
    const served = new Set(history.events.filter(({ event }) => event === 'granted').map(({ worker }) => worker))
    assert.deepEqual([...workers].sort(), [...served].sort(), `${history.who}: a worker that never came in`)
    const longest = Math.round(longestWait(history))
    return `${history.who}: ${granted} visits, ${refused} refused, ${count('orphan')} orphans, longest wait ${longest} ms`
  })
