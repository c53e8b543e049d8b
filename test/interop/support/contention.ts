import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { checkHistory, type Stay } from '../../support/history.js'
import type { WorkEvent, WorkOptions } from './java-lock.js'

const PROGRAM = fileURLToPath(new URL('lock-worker.js', import.meta.url))

/** All events of one process. */
export interface History {
  readonly who: string
  readonly events: WorkEvent[]
}

/** One process of ours that works on a lock. */
export const nodeWork = async (url: string, kind: string, name: string, options: object): Promise<WorkEvent[]> => {
  const child = spawn(process.execPath, [PROGRAM, url, kind, name, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const events: WorkEvent[] = []
  createInterface({ input: child.stdout }).on('line', (line) => events.push(JSON.parse(line) as WorkEvent))
  const [code] = (await once(child, 'close')) as [number | null]
  assert.equal(code, 0)
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

const longestWait = ({ events }: History): number => {
  const asked = new Map<string, number>()
  let longest = 0
  for (const { worker, event, at } of events) {
    if (event === 'invoke') asked.set(worker, at)
    if (event === 'granted') longest = Math.max(longest, at - (asked.get(worker) ?? at))
  }
  return longest
}

/** Checks that one was inside at a time, that nobody was forgotten and nothing failed; says what was seen. */
export const checkContention = (histories: readonly History[], { workers }: WorkOptions): string[] => {
  checkHistory(histories.flatMap(staysOf))
  return histories.map((history) => {
    const count = (event: WorkEvent['event']): number => history.events.filter((one) => one.event === event).length
    const [invoked, granted, refused] = [count('invoke'), count('granted'), count('refused')]
    assert.equal(invoked, granted + refused, `${history.who}: a call that never ended`)
    const failed = history.events.filter(({ event }) => event === 'failed')
    assert.deepEqual(failed, [], `${history.who}: a release that failed`)
    assert.ok(granted >= workers, `${history.who} came in ${granted} times`)
    const longest = Math.round(longestWait(history))
    return `${history.who}: ${granted} visits, ${refused} refused, ${count('orphan')} orphans, longest wait ${longest} ms`
  })
}
