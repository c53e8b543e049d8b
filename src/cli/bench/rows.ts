import { randomBytes } from 'node:crypto'
import type { Client } from '../../api/client.js'
import type { Lock } from '../../api/lock.js'
import type { Work } from './measure.js'

/** One row of the table: what is repeated, by how many callers at once. */
export interface Row {
  readonly id: 'script' | 'alone' | 'many' | 'contended' | 'fair'
  readonly title: string
  readonly works: readonly Work[]
}

/** How many clients contend for one lock. */
export const CLIENTS = 8
const MANY = 64
/** ms. Without a time limit, a call would wait until a server that is away comes back. */
const WAIT = 10_000

const pairOf = (lock: Lock): Work => {
  return async () => {
    const hold = await lock.acquire({ wait: WAIT })
    await hold.release()
  }
}

/** Several clients in one process: the server hands a lock over between them as between processes. */
export const rowsOf = (clients: readonly [Client, ...Client[]], prefix: string): readonly Row[] => {
  const [client] = clients
  // Two measurements at once must not meet, nor may one meet real locks.
  const run = randomBytes(6).toString('hex')
  const name = (lock: string): string => `${prefix}:${run}:${lock}`
  const script = client.script('return 1')
  const many = Array.from({ length: MANY }, (_, i) => pairOf(client.lock(name(`many:${i}`))))
  return [
    { id: 'script', title: 'an empty script', works: [() => script.run()] },
    { id: 'alone', title: '1 caller, 1 lock', works: [pairOf(client.lock(name('alone')))] },
    { id: 'many', title: '64 callers, 64 locks', works: many },
    { id: 'contended', title: '8 clients, 1 lock', works: clients.map((one) => pairOf(one.lock(name('one')))) },
    { id: 'fair', title: '8 clients, 1 fair lock', works: clients.map((one) => pairOf(one.fairLock(name('fair')))) },
  ]
}
