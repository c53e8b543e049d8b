import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Client } from '../../api/client.js'
import type { FencedHold, Hold } from '../../api/hold.js'
import type { Lock } from '../../api/lock.js'
import type { Permit } from '../../api/semaphore.js'
import type { DiagnosticMessage } from '../../index.js'
import { learnedOfHold } from './child-environment.js'
import type { Grip, Occupy } from './occupy.js'
import type { RunOptions } from './run-options.js'
import { asUsage } from '../usage-error.js'

interface OwnGrip extends Grip {
  release(): Promise<unknown>
}

type Held = Pick<Hold | Permit, 'signal' | 'remaining' | 'release'>

const lockOf = (client: Client, { names, kind }: RunOptions): Lock => {
  const [name = ''] = names
  switch (kind.kind) {
    case 'lock':
      return client.lock(name)
    case 'fair':
      return client.fairLock(name)
    case 'read':
      return client.readWriteLock(name).read
    case 'write':
      return client.readWriteLock(name).write
    case 'fenced':
      return client.fencedLock(name)
    case 'keyed':
      return client.keyedLock(name, kind.keys)
    case 'multi':
      return client.multiLock(...names.map((one) => client.lock(one)))
    case 'semaphore':
      throw new Error('a semaphore is not a lock')
  }
}

/** Runs the work, and returns with its result the owner whose lock was granted meanwhile, as the server knows it. */
const withOwner = async <T>(
  client: Client,
  work: () => Promise<T>,
): Promise<{ result: T; owner: string | undefined }> => {
  let owner: string | undefined
  const note = (message: unknown): void => {
    const grant = message as DiagnosticMessage
    if (grant.client === client.id) owner = grant.owner
  }
  subscribe('holdfast:grant', note)
  try {
    const result = await work()
    return { result, owner }
  } finally {
    unsubscribe('holdfast:grant', note)
  }
}

const gripOf = (held: Held, env: Grip['env']): OwnGrip => ({
  env,
  signal: held.signal,
  remaining: () => held.remaining(),
  release: () => held.release(),
})

const tokenOf = (hold: Hold): bigint | undefined => (hold as Partial<FencedHold>).token

const acquireLock = async (client: Client, options: RunOptions, signal: AbortSignal): Promise<OwnGrip> => {
  const { kind, wait } = options
  const lock = asUsage(() => lockOf(client, options))
  const { result: hold, owner } = await withOwner(client, () => lock.acquire({ wait, signal }))
  const { name } = lock
  if (options.ticket) return passOn(client, name, await hold.detach())
  // A lock of several has several owners, one for each member.
  const named = kind.kind === 'multi' ? undefined : owner
  return gripOf(hold, learnedOfHold({ name, owner: named, token: kind.kind === 'fenced' ? tokenOf(hold) : undefined }))
}

const NEVER = new AbortController().signal

/** The hold is the command's from now on: nothing here renews it, or can lose it. If the command did not adopt it, it is released at the end. */
const passOn = (client: Client, name: string, ticket: string): OwnGrip => ({
  env: learnedOfHold({ name, ticket }),
  signal: NEVER,
  remaining: () => Infinity,
  release: async () => {
    const left = await client.adopt(ticket).catch(() => undefined)
    return left?.release()
  },
})

const acquirePermit = async (
  client: Client,
  options: RunOptions,
  permits: number,
  signal: AbortSignal,
): Promise<OwnGrip> => {
  const [name = ''] = options.names
  const semaphore = asUsage(() => client.permitSemaphore(name))
  await semaphore.trySetPermits(permits)
  signal.throwIfAborted()
  const permit = await semaphore.acquire({ wait: options.wait, renew: true, signal })
  return gripOf(permit, learnedOfHold({ name, owner: permit.id }))
}

/** Waits for the lock or the permit. Rejects with the signal's reason if that aborts; then nothing is held. */
const acquire = (client: Client, options: RunOptions, signal: AbortSignal): Promise<OwnGrip> =>
  options.kind.kind === 'semaphore'
    ? acquirePermit(client, options, options.kind.permits, signal)
    : acquireLock(client, options, signal)

/** Holds the lock or the permit while the work runs. */
export const underLock =
  (options: RunOptions): Occupy =>
  async (client, stop, work) => {
    const grip = await acquire(client, options, stop)
    try {
      return (await work(grip)).code
    } finally {
      // No process of the command is left.
      await grip.release()
    }
  }
