/** A client of ours in a process of its own, told over IPC what to do: `node-program.js <url> <options>`. */
import type { ClientOptions, Lock } from 'holdfast'
import { connect } from 'holdfast'
import { now } from './java-process.js'

export interface Order {
  readonly id: number
  readonly op: 'lock' | 'unlock'
  readonly name: string
  /** Which of its owners. */
  readonly thread: number
  readonly lease?: number | undefined
}

export interface Report {
  readonly id: number
  readonly start: number
  readonly end: number
  readonly error?: string
}

const [url = '', json = '{}'] = process.argv.slice(2)
const client = await connect({ presence: false, ...(JSON.parse(json) as ClientOptions), url })
const owners = new Map<number, Parameters<Lock['for']>[0]>()

const ownerOf = (thread: number) => {
  const owner = owners.get(thread) ?? client.owner()
  owners.set(thread, owner)
  return owner
}

const obey = async ({ op, name, thread, lease }: Order): Promise<void> => {
  const lock = client.fairLock(name).for(ownerOf(thread))
  if (op === 'lock') await lock.lock(lease)
  else await lock.unlock()
}

const report = (line: Report): void => void process.send?.(line)

process.on('disconnect', () => process.exit(1))
process.on('message', (order: Order) => {
  const start = now()
  obey(order).then(
    () => report({ id: order.id, start, end: now() }),
    (error: unknown) => report({ id: order.id, start, end: now(), error: String(error) }),
  )
})
process.send?.({ ready: client.id })
