import { SharedObject } from '../../core/shared/shared-object.js'
import type { Patience } from '../../core/waiting/acquire-request.js'
import type { Answer, Passage } from '../../core/shared/passage.js'
import { latchChannel } from '../../keys.js'
import { latchCountDown, latchDelete, latchTrySetCount } from '../../lua/scripts.gen.js'
import { OPTIONS, checkAmount, checkWaiting } from '../../check-arguments.js'
import type { CountDownLatch } from '../../api/latch.js'
import type { WaitOptions } from '../../api/wait-options.js'
import type { Waiter } from '../../core/waiting/waiter.js'

/** Redisson's RCountDownLatch: one key with the count. The key is deleted when the latch opens. */
export class Latch extends SharedObject implements CountDownLatch, Passage<Patience, true> {
  readonly kind = { name: 'countDownLatch' }

  get channel(): string {
    return latchChannel(this.key)
  }

  async trySetCount(count: number): Promise<boolean> {
    checkAmount(count, 'count', 1)
    const { runner, key, channel } = this
    const closed = await this.once((note) =>
      runner.run(latchTrySetCount, [key, channel, note], [count, runner.publishCommand]),
    )
    return closed === 1
  }

  async countDown(): Promise<number> {
    const { runner, key, channel } = this
    return this.once((note) => runner.run(latchCountDown, [key, channel, note], [runner.publishCommand]))
  }

  override async count(): Promise<number> {
    // Redisson's own clients can count below zero.
    return Math.max(0, await super.count())
  }

  async wait(options?: WaitOptions): Promise<boolean> {
    const { wait = Infinity, signal } = checkWaiting(options, OPTIONS.wait)
    this.checkUsable()
    const request: Patience = { wait, signal }
    const enter = (): Promise<true | undefined> =>
      this.runtime.tried(request, this.name, this.turnstiles.enter(this, request))
    return (await this.runtime.lockEvents.call(this, request, enter)) === true
  }

  override async delete(): Promise<boolean> {
    const { key, channel } = this
    const deleted = await this.query((runner) => runner.run(latchDelete, [key, channel], [runner.publishCommand]))
    return deleted === 1
  }

  // ---- for waiters ----------------------------------------------------------------------------------------------------

  /** One look serves all waiters. */
  weight(): number {
    return 0
  }

  async ask(waiters: readonly Waiter<Patience, true>[]): Promise<Answer<Patience, true>> {
    const open = (await this.count()) === 0
    return { granted: open ? waiters.map(() => true) : [], left: -1 }
  }

  async giveBack(): Promise<void> {
    // A caller that passes an open latch takes nothing.
  }
}
