import type { Runner } from '../../core/protocol/runner.js'
import { isForm } from '../../codecs/written.js'
import { flightChannel, flightLock, flightRecord, flightsToken } from '../../keys.js'
import { flightClaim, flightFinish, flightForget, flightLook } from '../../lua/scripts.gen.js'
import { type NewestTokens, newestOf, remember } from '../slots/newest-tokens.js'
import { type Ended, messageOf } from './message.js'

/** What the server knows of a key. */
export interface Look {
  /** How its newest computation ended, if the caller can use that. */
  readonly ended: Ended | undefined
  /** How that, or what the caller cannot use, ended, and how long ago, ms. */
  readonly state: Ended['state'] | undefined
  readonly age: number
  /** The newest token whose computation ended; 0 when none is known. */
  readonly token: bigint
  /** The wire name of the hold under which somebody computes now. */
  readonly holder: string | undefined
}

/** Only the age says whether a value can be used. */
export const ANY_TOKEN = -1n

const isState = (state: unknown): state is Ended['state'] => state === 'value' || state === 'failed'

/** One key of a flight on the server. */
export class FlightRecord {
  readonly lock: string
  readonly channel: string
  readonly record: string
  readonly #counter: string
  readonly #runner: Runner
  readonly #newest: NewestTokens

  constructor(runner: Runner, name: string, key: string, newest: NewestTokens) {
    this.#runner = runner
    this.#newest = newest
    this.record = flightRecord(name, key)
    this.lock = flightLock(name, key)
    this.channel = flightChannel(name, key)
    this.#counter = flightsToken(name)
  }

  /** What ended under another token than `after` can be used, and values that are less than `fresh` ms old. */
  async look(after: bigint, fresh: number): Promise<Look> {
    const reply = await this.#runner.run(flightLook, [this.record, this.lock], [Number(after), fresh])
    const [state, number, age, form, value, holder] = reply
    const token = BigInt(number)
    const known = isState(state) ? state : undefined
    const ended = known && isForm(form) && value !== null ? { state: known, token, form, data: value } : undefined
    return { ended, state: known, age, token, holder: holder ?? undefined }
  }

  /** `undefined`: somebody has ended meanwhile, or the lock is not this owner's any more. */
  async claim(owner: string, after: bigint): Promise<bigint | undefined> {
    const keys = [this.record, this.lock, this.#counter] as const
    const args = [owner, Number(after), String(newestOf(this.#newest, this.#counter))] as const
    const reply = await this.#runner.take(flightClaim, keys, args, (claimed) => claimed !== null)
    if (reply === null) return undefined
    const token = BigInt(reply)
    remember(this.#newest, this.#counter, token)
    return token
  }

  /** `false`: the lock is not this owner's any more, and nobody sees it. */
  async finish(owner: string, ended: Ended, kept: number): Promise<boolean> {
    const { token, state, form, data } = ended
    const keys = [this.record, this.lock, this.channel] as const
    const told = [this.#runner.publishCommand, messageOf(owner, ended)] as const
    const args = [owner, String(token), state, form, data, kept, ...told] as const
    return (await this.#runner.run(flightFinish, keys, args)) === 1
  }

  async forget(): Promise<boolean> {
    return (await this.#runner.run(flightForget, [this.record, this.channel], [this.#runner.publishCommand])) === 1
  }
}
