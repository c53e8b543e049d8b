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

/**
 * Work of `ms` that costs no CPU and takes no timer, like a call to a database: a thread sleeps and says when it is over.
 * A timer of Node would be late by up to a millisecond; spinning would take a core from server and clients.
 */
export const holding = (ms: number): Holding => {
  if (ms === 0) return Object.assign(() => Promise.resolve(), { end: () => Promise.resolve() })
  const sleeper = new Worker(SLEEPER, { eval: true, workerData: ms })
  const waiting: (() => void)[] = []
  sleeper.on('message', () => waiting.shift()?.())
  sleeper.unref()
  const hold = (): Promise<void> =>
    new Promise((resolve) => {
      waiting.push(resolve)
      sleeper.postMessage(0)
    })
  return Object.assign(hold, { end: () => sleeper.terminate() })
}
