/** Holds locks of every kind, and blocks its event loop when it is told to: `blocked-process.js <options of connect, JSON> <kinds, JSON>`. */
import { subscribe } from 'node:diagnostics_channel'
import type { Worker } from 'node:worker_threads'
import { type ClientOptions, connect, type HoldState } from 'holdfast'
import { machineTime } from '../soak/log.js'
import { acquireOf, type KindName } from './kinds.js'

/** `states`: every state that was seen, of each kind, and when it was first seen. */
export interface Told {
  readonly what: 'held' | 'back' | 'releases' | 'released' | 'error' | 'thread connected' | 'crashed'
  readonly at: number
  readonly states: Readonly<Record<string, Partial<Record<HoldState, number>>>>
  readonly most?: number
  readonly text?: string
}

export type Order = { readonly block: number } | 'release' | 'exit' | 'crash the thread' | 'crash the thread and block'

const [options = '', kinds = ''] = process.argv.slice(2)
let worker: Worker | undefined
subscribe('worker_threads', (message) => {
  worker = (message as { worker: Worker }).worker
})
const logger = {
  debug: (text: string): void => {
    if (text.endsWith('connected')) tell('thread connected')
  },
  ...{ info() {}, warn() {}, error() {} },
}
const client = await connect({ ...(JSON.parse(options) as ClientOptions), logger })
client.on('error', ({ message }) => tell('error', { text: message }))
const states: Record<string, Partial<Record<HoldState, number>>> = {}
let most = 0
const tell = (what: Told['what'], more: Partial<Told> = {}): void => {
  process.send?.({ what, at: machineTime(), states, most, ...more } satisfies Told)
}
const names = JSON.parse(kinds) as KindName[]
const holds = await Promise.all(names.map(async (kind) => ({ kind, hold: await acquireOf[kind](client) })))
const look = (): void => {
  for (const { kind, hold } of holds) {
    const of = (states[kind] ??= {})
    of[hold.state] ??= machineTime()
    most = Math.max(most, hold.remaining())
  }
}
/** ms. Longer than the leases here. */
const LONG = 9000
/** Computes, and looks at its holds now and then, as long work does. */
const block = (ms: number): void => {
  for (const end = performance.now() + ms; performance.now() < end; look()) {
    for (let n = 0; n < 1e5; n++) Math.sqrt(n)
  }
}
process.on('disconnect', () => process.exit(0))
process.on('message', (order: Order) => {
  if (order === 'exit') process.exit(0)
  else if (order === 'crash the thread') void worker?.terminate().then(() => tell('crashed'))
  else if (order === 'crash the thread and block') {
    void worker?.terminate().then(() => {
      block(LONG)
      setTimeout(() => tell('back'), 100)
    })
  } else if (order === 'release') {
    tell('releases')
    void Promise.all(holds.map(({ hold }) => hold.release())).then(async (released) => {
      look()
      tell('released', { text: released.join() })
      await client.close()
      process.disconnect()
    })
  } else {
    block(order.block)
    // The timers and the answers that are due come first.
    setTimeout(() => {
      look()
      tell('back')
    }, 100)
  }
})
tell('held')
