import type { Runtime } from '../../core/client/runtime.js'
import { NamedRunner } from '../../core/client/named-runner.js'
import type { ScriptRunner } from '../../core/protocol/script-runner.js'
import type { Answer, Passage } from '../../core/shared/passage.js'
import { type PermitLineKeys, PermitPlace } from '../../core/shared/permit-place.js'
import type { Turnstiles } from '../../core/shared/turnstiles.js'
import type { Patience } from '../../core/waiting/acquire-request.js'
import type { Waiter } from '../../core/waiting/waiter.js'
import { semaphoreChannel } from '../../keys.js'

/**
 * The permits of a semaphore of either kind, for calls that acquire some. The waiters of a process have one place in the line on the server, for as many
 * permits as the first of them wants.
 */
export abstract class PermitsInLine<Q extends Patience, G> implements Passage<Q, G> {
  abstract readonly kind: { readonly name: string }
  readonly name: string
  readonly key: string
  /** The channel on which the process learns that it was granted permits. */
  readonly channel: string
  /** The channel on which Redisson publishes releases. */
  readonly told: string
  readonly turnstiles: Turnstiles
  readonly runtime: Runtime
  readonly runner: ScriptRunner
  protected readonly place: PermitPlace

  constructor(turnstiles: Turnstiles, name: string, key: string, line: Omit<PermitLineKeys, 'told'>) {
    const { runtime } = turnstiles
    this.turnstiles = turnstiles
    this.runtime = runtime
    this.runner = new NamedRunner(runtime, name)
    this.name = name
    this.key = key
    this.told = semaphoreChannel(key)
    this.place = new PermitPlace(runtime, this.runner, { ...line, told: this.told }, () => turnstiles.at(this)?.call())
    this.channel = this.place.channel
  }

  get standing(): string | undefined {
    return this.place.owner
  }

  abstract ask(waiters: readonly Waiter<Q, G>[], hears: boolean): Promise<Answer<Q, G>>
  abstract amount(request: Q): number
  abstract giveBack(granted: G): Promise<void>
  /** Takes this place out of the line. */
  protected abstract leave(owner: string): Promise<unknown>

  /** The waiter for which this question joins the line, if it has to wait. */
  protected patient(waiters: readonly Waiter<Q, G>[], hears: boolean): Waiter<Q, G> | undefined {
    return hears || this.place.stands ? waiters.find(({ request }) => request.wait > 0) : undefined
  }

  placeToLeave(): string | undefined {
    return this.place.leave()
  }

  leaveLine(): Promise<unknown> | undefined {
    const owner = this.place.leave()
    return owner === undefined ? undefined : this.leave(owner)
  }

  /**
   * A step that releases permits also gives up the place in the line, if this process no longer needs it; `took`: whether the step did so. False: there was
   * nothing to release to.
   */
  protected async back(
    step: (owner: string, visits: number) => Promise<number>,
    took: (answer: number) => boolean,
  ): Promise<boolean> {
    const here = this.turnstiles.at(this)
    const visits = here?.passing.visits() ?? 1
    const place = here?.placeToLeave()
    let answer = -1
    try {
      answer = await step(place ?? this.runtime.options.id, visits)
      return answer !== -1
    } finally {
      // A repeated step does not know the place, and a step that released nothing keeps it.
      if (!took(answer) && place !== undefined) void this.leave(place)
    }
  }
}
