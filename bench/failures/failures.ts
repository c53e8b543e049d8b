import { machineTime } from '../base/stats.js'
import { LEASE, type Stage } from './stage.js'

/** What one run showed, in seconds. */
export interface Shown {
  /** From the failure until the next process has the lock. */
  readonly next: number
  /** For how long code of two processes ran and neither knew better; below 0: the first learned so long before. Infinity: it never did. */
  readonly both?: number
}

/** One way in which a lock goes wrong, and how a reader would call it. */
export interface Failure {
  readonly title: string
  readonly about: string
  run(stage: Stage): Promise<Shown>
}

const seconds = (from: number, to: number): number => (to - from) / 1e6

/** One holds the lock, over the bad line if `far`, and another waits for it; `at` is now. */
const heldAndWanted = async (stage: Stage, far = false) => {
  const [holder, next] = [await stage.party(far), await stage.party()]
  await holder.take()
  const had = next.wait()
  return { holder, had, at: machineTime() }
}

const killed: Failure = {
  title: 'The holder is killed',
  about: '`kill -9`.',
  async run(stage) {
    const { holder, had, at } = await heldAndWanted(stage)
    await holder.kill()
    return { next: seconds(at, await had) }
  },
}

const stopped: Failure = {
  title: 'The holder is stopped for three leases',
  about: '`kill -STOP`, then `kill -CONT`: a paused container, a virtual machine that is moved.',
  async run(stage) {
    const { holder, had, at } = await heldAndWanted(stage)
    holder.stop()
    setTimeout(() => holder.cont(), 3 * LEASE)
    const from = await had
    const goesOn = at + 3 * LEASE * 1000
    return { next: seconds(at, from), both: seconds(Math.max(goesOn, from), await holder.learned()) }
  },
}

const blocked: Failure = {
  title: 'Its event loop is blocked for three leases',
  about: 'A long computation in the process of the holder.',
  async run(stage) {
    const { holder, had, at } = await heldAndWanted(stage)
    const goesOn = holder.block(3 * LEASE)
    const from = await had
    return { next: seconds(at, from), both: seconds(Math.max(await goesOn, from), await holder.learned()) }
  },
}

const cutOff: Failure = {
  title: 'The holder is cut off from the server',
  about: 'Its packets are lost in both directions, and its connections stay open.',
  async run(stage) {
    const { holder, had, at } = await heldAndWanted(stage, true)
    stage.link.held = 'everything'
    const learned = await holder.learned()
    return { next: seconds(at, await had), both: seconds(await had, learned) }
  },
}

const emptied: Failure = {
  title: 'The server loses its data',
  about: '`FLUSHALL`: a restart without persistence, a failover to a replica that lags behind.',
  async run(stage) {
    const { holder, had, at } = await heldAndWanted(stage)
    await stage.redis.flushall()
    const learned = await holder.learned()
    return { next: seconds(at, await had), both: seconds(await had, learned) }
  },
}

const answerLost: Failure = {
  title: 'The answer to `acquire` is lost',
  about:
    'The server grants a free lock and the connection breaks before the answer arrives. The caller releases it as soon as its call ends, if it succeeds.',
  async run(stage) {
    const [first, next] = [await stage.party(true), await stage.party()]
    const at = machineTime()
    stage.link.cutInsteadOfReply()
    await first.take().then(first.free, () => undefined)
    return { next: seconds(at, await next.wait()) }
  },
}

export const failures: readonly Failure[] = [killed, stopped, blocked, cutOff, emptied, answerLost]
