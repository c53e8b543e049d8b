import type { ScriptRunner } from '../../core/protocol/script-runner.js'
import { isForm } from '../../codecs/value-as-text.js'
import { flightChannel, flightLock, flightRecord, flightsToken } from '../../keys.js'
import { flightClaim, flightFinish, flightForget, flightLook } from '../../lua/scripts.gen.js'
import { type NewestTokens, newestOf, remember } from '../slots/newest-tokens.js'
import { type Ended, messageOf } from './end-message.js'

/** What the server knows about a key. */
export interface Look {
  /** The outcome of the newest computation, if the caller can use it. */
  readonly ended: Ended | undefined
  /** How the newest computation ended, even if the caller cannot use that, and how many ms ago. */
  readonly state: Ended['state'] | undefined
  readonly age: number
  /** The token of the newest computation that ended; 0 if none is known. */
  readonly token: bigint
  /** The wire name of the hold under which a process computes now. */
  readonly holder: string | undefined
}

/** With this, only the age decides whether a value can be used. */
export const ANY_TOKEN = -1n
/** As `fresh`: a value can be used as long as it is stored. */
export const WHATEVER_AGE = -1

const isState = (state: unknown): state is Ended['state'] => state === 'value' || state === 'failed'

/** One key of a flight on the server. */
export class FlightRecord {
  readonly lock: string
  readonly channel: string
  readonly record: string
  readonly #counter: string
  readonly #runner: ScriptRunner
  readonly #newest: NewestTokens

  constructor(runner: ScriptRunner, name: string, key: string, newest: NewestTokens) {
    this.#runner = runner
    this.#newest = newest
    this.record = flightRecord(name, key)
    this.lock = flightLock(name, key)
    this.channel = flightChannel(name, key)
    this.#counter = flightsToken(name)
  }

  /** Returns an outcome if its token is not `after`, or if its value is less than `fresh` ms old. */
  async look(after: bigint, fresh: number): Promise<Look> {
    const reply = await this.#runner.run(flightLook, [this.record, this.lock], [String(after), fresh])
    const [state, number, age, form, value, holder] = reply
    const token = BigInt(number)
    const known = isState(state) ? state : undefined
    const ended = known && isForm(form) && value !== null ? { state: known, token, form, data: value } : undefined
    return { ended, state: known, age, token, holder: holder ?? undefined }
  }

  /** `undefined`: another computation ended meanwhile, or the lock no longer belongs to this owner. */
  async claim(owner: string, after: bigint): Promise<bigint | undefined> {
    const keys = [this.record, this.lock, this.#counter] as const
    const args = [owner, String(after), String(newestOf(this.#newest, this.#counter))] as const
    const reply = await this.#runner.take(flightClaim, keys, args, (claimed) => claimed !== null)
    if (reply === null) return undefined
    const token = BigInt(reply)
    remember(this.#newest, this.#counter, token)
    return token
  }

  /** `false`: the lock no longer belongs to this owner, so no call ever sees the outcome. */
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
