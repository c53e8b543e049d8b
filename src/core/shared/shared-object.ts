import { EngineError } from '../../errors.js'
import { checkLease, show } from '../../check-arguments.js'
import { coreDeleteOrExpireKeys } from '../../lua/scripts.gen.js'
import { mustShareSlot, noteKey } from '../../keys.js'
import { type Shape, either, nil, text } from '../../lua/reply-shape.js'
import type { Kept } from '../../api/kept.js'
import type { Runtime } from '../client/runtime.js'
import { NamedRunner } from '../client/named-runner.js'
import { leftOf } from '../hold/lease-terms.js'
import type { ScriptRunner } from '../protocol/script-runner.js'
import type { Turnstiles } from './turnstiles.js'
import type { Arg } from '../../lua/values.js'
import { quoted } from '../../plain-text.js'

/** Accepts any whole number, even one too large for JavaScript to be exact: any program may have set any expiry. */
const wholeMs = (reply: unknown): reply is number => Number.isInteger(reply)

/** An object that many share and that has no owner: its keys stay on the server until they are deleted. */
export abstract class SharedObject implements Kept {
  readonly name: string
  readonly key: string
  protected readonly runtime: Runtime
  protected readonly turnstiles: Turnstiles
  readonly #speaker: ScriptRunner

  constructor(turnstiles: Turnstiles, name: string) {
    const { runtime } = turnstiles
    this.turnstiles = turnstiles
    this.runtime = runtime
    this.name = name
    this.key = runtime.keyOf(name)
    this.#speaker = new NamedRunner(runtime, name)
  }

  /** All its keys. */
  protected get keys(): readonly [string, ...string[]] {
    return [this.key]
  }

  /** Whether its first key is that of a limiter; otherwise it is a counter. */
  protected get limits(): boolean {
    return false
  }

  /** The channel on which its changes are published. */
  protected abstract readonly channel: string

  /** Checked before anything is sent, even if a command needs only one of the keys. */
  protected checkUsable(): void {
    this.runtime.checkOpen(this.name)
    if (!this.runtime.link.cluster) return
    const { key } = this
    // The channel of a latch has braces of its own; its notes do not.
    for (const channel of [this.channel, noteKey(key, this.runtime.options.id, 0)]) mustShareSlot({ key, channel })
  }

  /** Runs its scripts, while the client is open. */
  protected get runner(): ScriptRunner {
    this.checkUsable()
    return this.#speaker
  }

  async exists(): Promise<boolean> {
    return (await this.#left()) !== -2
  }

  async remaining(): Promise<number | undefined> {
    return leftOf(await this.#left())
  }

  /** As PTTL answers: -2 if there is no such key, -1 if it has no expiry. */
  #left(): Promise<number> {
    return this.command(['PTTL', this.key], wholeMs)
  }

  /** A question. It rejects if the client closes before the answer. */
  protected query<T>(step: (runner: ScriptRunner) => Promise<T>): Promise<T> {
    const { runner } = this
    return this.runtime.untilClosed(() => step(runner), this.name)
  }

  /** A step that runs once, even if its answer is lost. */
  protected once<T>(step: (note: string) => Promise<T>): Promise<T> {
    this.checkUsable()
    return this.runtime.untilClosed(() => this.runtime.steps.once(this.key, step), this.name)
  }

  /** One plain command. */
  protected command<R>(argv: readonly Arg[], fits: Shape<R>): Promise<R> {
    const { key: route, name: target } = this
    return this.query(() => this.runtime.link.command(argv, fits, { route, target }))
  }

  delete(): Promise<boolean> {
    // There may be very many grants: with UNLINK, the server frees them in the background.
    return this.#change('UNLINK')
  }

  async expire(ms: number): Promise<boolean> {
    checkLease(ms, 'ms')
    return this.#change('PEXPIRE', String(ms))
  }

  clearExpire(): Promise<boolean> {
    return this.#change('PERSIST')
  }

  /** Changes all its keys, if they belong to this kind of object. */
  async #change(command: 'UNLINK' | 'PEXPIRE' | 'PERSIST', expiry = ''): Promise<boolean> {
    const change = [this.limits ? '1' : '0', command, expiry] as const
    return (await this.query((runner) => runner.run(coreDeleteOrExpireKeys, this.keys, change))) > 0
  }

  /** The number that is its value; 0 if there is none. */
  protected async count(): Promise<number> {
    const kept = await this.command(['GET', this.key], either(text, nil))
    // As the scripts read it, and Redis's INCR: '-0' and '007' are no counts.
    const count = /^(?:0|-?[1-9]\d{0,15})$/.test(kept ?? '0') ? Number(kept) : NaN
    if (Number.isSafeInteger(count)) return count
    const problem = `the key of ${quoted(this.name)} holds a text that is no count: ${show(kept)}`
    throw new EngineError('WRONG_KIND', problem, { target: this.name })
  }
}
