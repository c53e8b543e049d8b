import { engines } from '../engines.js'
import { lockContract } from './lock.contract.js'
import type { LockKind } from './lock.contract.js'

const channel = (name: string): string =>
  name.includes('{') ? `redisson_lock__channel:${name}` : `redisson_lock__channel:{${name}}`

const kinds: readonly LockKind[] = [
  { name: 'lock', reentrant: true, make: (client, name) => client.lock(name), channel },
  { name: 'nonReentrantLock', reentrant: false, make: (client, name) => client.nonReentrantLock(name), channel },
]

for (const kind of kinds) for (const engine of engines) lockContract(kind, engine)
