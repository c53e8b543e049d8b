import { Worker } from 'node:worker_threads'

export interface Holding {
  (): Promise<void>
  end(): Promise<unknown>
}

const SLEEPER = `
const { parentPort, workerData } = require('node:worker_threads')
const cell = new Int32Array(new SharedArrayBuffer(4))
parentPort.on('message', () => {
  Atomics.wait(cell, 0, 0, workerData)
  parentPort.postMessage(0)
})`

interface Sleeper {
  sleep(): Promise<void>
  end(): Promise<unknown>
}

const sleeperOf = (ms: number): Sleeper => {
  const thread = new Worker(SLEEPER, { eval: true, workerData: ms })
  let wake: () => void
  thread.on('message', () => wake())
  thread.unref()
  const sleep = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve
      thread.postMessage(0)
    })
  return { sleep, end: () => thread.terminate() }
}

/**
 * Work of `ms` that costs no CPU and takes no timer, like a call to a database: a thread sleeps and says when it is over.
 * A timer of Node would be late by up to a millisecond; spinning would take a core from server and clients.
 */
export const holding = (ms: number, places = 1): Holding => {
  if (ms === 0) return Object.assign(() => Promise.resolve(), { end: () => Promise.resolve() })
  const idle = Array.from({ length: places }, () => sleeperOf(ms))
  const all = [...idle]
  /** For who came in where all places are taken: it is to be seen, and not to fail. */
  const another = (): Sleeper => {
    const sleeper = sleeperOf(ms)
    all.push(sleeper)
    return sleeper
  }
  const hold = async (): Promise<void> => {
    const sleeper = idle.pop() ?? another()
    await sleeper.sleep()
    idle.push(sleeper)
  }
  return Object.assign(hold, { end: () => Promise.all(all.map(({ end }) => end())) })
}
