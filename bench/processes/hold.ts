import { Worker } from 'node:worker_threads'

export interface Holding {
  /** For `ms`, where that is not what it was made for. */
  (ms?: number): Promise<void>
  end(): Promise<unknown>
}

const SLEEPER = `
const { parentPort } = require('node:worker_threads')
const cell = new Int32Array(new SharedArrayBuffer(4))
parentPort.on('message', (ms) => {
  Atomics.wait(cell, 0, 0, ms)
  parentPort.postMessage(0)
})`

interface Sleeper {
  sleep(ms: number): Promise<void>
  end(): Promise<unknown>
}

const sleeperOf = (): Sleeper => {
  const thread = new Worker(SLEEPER, { eval: true })
  let wake: () => void
  thread.on('message', () => wake())
  thread.unref()
  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve
      thread.postMessage(ms)
    })
  return { sleep, end: () => thread.terminate() }
}

/**
 * Work of `ms` that costs no CPU and takes no timer, like a call to a database: a thread sleeps and says when it is over.
 * A timer of Node would be late by up to a millisecond; spinning would take a core from server and clients.
 */
export const holding = (ms: number, places = 1): Holding => {
  if (ms === 0) return Object.assign(() => Promise.resolve(), { end: () => Promise.resolve() })
  const idle = Array.from({ length: places }, sleeperOf)
  const all = [...idle]
  /** For who came in where all places are taken: it is to be seen, and not to fail. */
  const another = (): Sleeper => {
    const sleeper = sleeperOf()
    all.push(sleeper)
    return sleeper
  }
  const hold = async (now = ms): Promise<void> => {
    const sleeper = idle.pop() ?? another()
    await sleeper.sleep(now)
    idle.push(sleeper)
  }
  return Object.assign(hold, { end: () => Promise.all(all.map(({ end }) => end())) })
}
