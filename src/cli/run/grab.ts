import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Client } from '../../api/client.js'
import type { FencedHold, Hold } from '../../api/hold.js'
import type { Lock } from '../../api/lock.js'
import type { Permit } from '../../api/semaphore.js'
import type { DiagnosticMessage } from '../../index.js'
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

const grabLock = async (client: Client, options: RunOptions, signal: AbortSignal): Promise<OwnGrip> => {
  const { kind, wait } = options
  const lock = asUsage(() => lockOf(client, options))
  const { result: hold, owner } = await withOwner(client, () => lock.acquire({ wait, signal }))
  const told = { HOLDFAST_NAME: lock.name }
  if (options.ticket) return passOn(client, await hold.detach(), told)
  const token = kind.kind === 'fenced' ? tokenOf(hold) : undefined
  return gripOf(hold, {
    ...told,
    // A lock of several has several owners, one for each member.
    ...(owner !== undefined && kind.kind !== 'multi' && { HOLDFAST_OWNER: owner }),
    ...(token !== undefined && { HOLDFAST_TOKEN: String(token) }),
  })
}

const NEVER = new AbortController().signal

/** The hold is the command's from now on: nothing here renews it, or can lose it. If the command did not adopt it, it is released at the end. */
const passOn = (client: Client, ticket: string, told: Grip['env']): OwnGrip => ({
  env: { ...told, HOLDFAST_TICKET: ticket },
  signal: NEVER,
  remaining: () => Infinity,
  release: async () => {
    const left = await client.adopt(ticket).catch(() => undefined)
    return left?.release()
  },
})

const grabPermit = async (
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
  return gripOf(permit, { HOLDFAST_NAME: name, HOLDFAST_OWNER: permit.id })
}

/** Waits for the lock or the permit. Rejects with the signal's reason if that aborts; then nothing is held. */
const grab = (client: Client, options: RunOptions, signal: AbortSignal): Promise<OwnGrip> =>
  options.kind.kind === 'semaphore'
    ? grabPermit(client, options, options.kind.permits, signal)
    : grabLock(client, options, signal)

/** Holds the lock or the permit while the work runs. */
export const underLock =
  (options: RunOptions): Occupy =>
  async (client, stop, work) => {
    const grip = await grab(client, options, stop)
    try {
      return (await work(grip)).code
    } finally {
      // No process of the command is left.
      await grip.release()
    }
  }
