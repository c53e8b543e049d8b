import assert from 'node:assert/strict'
import type { Hold } from 'holdfast'
import { kinds } from '../../contract/kinds.js'
import type { LockKind } from '../../contract/lock.contract.js'
import { type Attempt, type Scene, strangeReplies } from '../../../support/strange-replies.js'

/** Every operation of a lock, alone and with another who waits. */
const useLock = async (kind: LockKind, scene: Scene, attempt: Attempt): Promise<void> => {
  const { one, other, name, pass, raw } = scene
  /** No hold is believed that the server does not have. */
  const check = (hold: Hold | undefined): void => {
    if (hold?.state !== 'held') return
    assert.equal(raw('EXISTS', name), 1, 'it is held, the server says not')
    assert.ok(Number.isFinite(hold.remaining()), `remaining() is ${hold.remaining()}`)
  }
  const [mine, theirs] = [kind.make(one, name), kind.make(other, name)]
  const hold = await attempt(mine.acquire())
  check(hold)
  for (const ask of [() => mine.isLocked(), () => mine.remaining(), () => mine.inspect()]) await attempt<unknown>(ask())
  const abort = new AbortController()
  const waiting = attempt(theirs.acquire({ wait: 40_000, lease: 20_000 }))
  const leaving = attempt(theirs.acquire({ signal: abort.signal }))
  await pass(1500)
  abort.abort(new Error('left'))
  await pass(11_000)
  check(hold)
  if (kind.reentrant && hold !== undefined && kind.mode !== 'write') {
    const inner = await attempt(mine.acquire({ owner: hold.owner }))
    if (inner !== undefined) await attempt(inner.release())
  }
  const ticket = hold === undefined ? undefined : await attempt(hold.detach())
  const adopted = ticket === undefined ? undefined : await attempt(one.adopt(ticket))
  check(adopted)
  for (const held of [adopted, hold]) if (held !== undefined) await attempt(held.release())
  await attempt(leaving)
  const second = await waiting
  check(second)
  if (second !== undefined) {
    await attempt(second.extend(25_000))
    check(second)
    await attempt(second.release())
  }
  const third = await attempt(mine.acquire({ lease: 5000, wait: 1000 }))
  check(third)
  await attempt(theirs.forceRelease())
  const me = mine.for(one.owner())
  await attempt(me.tryLock(100, 1000))
  const steps = [
    () => me.isHeld(),
    () => me.holdCount(),
    () => me.remainTimeToLive(),
    () => me.unlock(),
    () => me.forceUnlock(),
  ]
  for (const step of steps) await attempt<unknown>(step())
  if (third !== undefined) await attempt(third.release())
}

strangeReplies(
  'a strange reply to a lock',
  kinds.map((kind) => ({
    name: kind.name,
    ...(kind.options === undefined ? {} : { options: kind.options }),
    use: (scene, attempt) => useLock(kind, scene, attempt),
    async after({ one, other, name, run }) {
      for (const client of [one, other]) {
        const hold = await run(kind.make(client, name).acquire({ wait: 60_000 }))
        assert.equal(await run(hold.release()), true)
      }
    },
  })),
)
