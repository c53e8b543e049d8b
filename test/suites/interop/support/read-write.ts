import type { Client, Lock } from 'holdfast'
import { connect } from 'holdfast'
import { type Actor, type BothSides, type Compared, locks, ownerActor } from './actors.js'
import { confirmed, readWriteListeners } from './names.js'

export const READ: BothSides = locks({
  kind: 'read',
  ours: (client: Client, name: string): Lock => client.readWriteLock(name).read,
  listeners: readWriteListeners,
  settled: confirmed,
})

export const WRITE: BothSides = locks({
  kind: 'write',
  ours: (client: Client, name: string): Lock => client.readWriteLock(name).write,
  listeners: readWriteListeners,
  settled: confirmed,
})

/** `readTryLock`: what is done to which side. */
const bySide = (read: Actor, write: Actor): Actor => ({
  ...read,
  run(name, operation, args) {
    const side = operation.startsWith('read') ? read : write
    const rest = operation.replace(/^read|^write/, '')
    return side.run(name, rest.charAt(0).toLowerCase() + rest.slice(1), args)
  },
})

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** Both sides of one lock, by one thread. */
export const READ_WRITE: Compared = {
  kind: 'readWrite',
  operations: ['read', 'write'].flatMap((side) => READ.operations.map((operation) => side + capital(operation))),
  listeners: readWriteListeners,
  settled: confirmed,
  frees: /unlock$/i,
  java: (redisson) => bySide(READ.java(redisson), WRITE.java(redisson)),
  async node(url, options) {
    const client = await connect({ ...options, url, presence: false })
    const owner = client.owner()
    return bySide(ownerActor(client, owner, READ.ours), ownerActor(client, owner, WRITE.ours))
  },
}
