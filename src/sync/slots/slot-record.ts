import { clientOf, slotLock, slotRecord, slotsLast, slotsToken } from '../../keys.js'
import { slotsClaim, slotsFinish, slotsLook, slotsSkip } from '../../lua/scripts.gen.js'
import type { ScriptRunner } from '../../core/protocol/script-runner.js'
import { type NewestTokens, newestOf, remember } from './newest-tokens.js'

export interface RecordOptions {
  /** The key that all slots of the name share. */
  readonly key: string
  readonly slot: string
  readonly due: number | undefined
  /** A name that is never used again. Claiming the slot writes it down. */
  readonly run: string
  readonly kept: number
  readonly newest: NewestTokens
}

/** What the server knows about a slot. */
export interface Look {
  /** `undefined`: no process has claimed it. */
  readonly state: 'running' | 'ran' | 'failed' | 'crashed' | 'skipped' | undefined
  readonly client: string
  readonly attempt: number
  readonly token: bigint | undefined
  readonly began: number | undefined
  readonly ended: number | undefined
  /** Its lock is held. */
  readonly running: boolean
  readonly now: number
}

/** One run. */
export interface Claimed {
  readonly token: bigint
  readonly attempt: number
}

const ENDS: readonly unknown[] = ['ran', 'failed', 'skipped']

const numberOf = (text: string | null): number | undefined =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined

/** The record of one slot, for one run. */
export class SlotRecord {
  readonly lock: string
  readonly #runner: ScriptRunner
  readonly #options: RecordOptions
  readonly #record: string

  constructor(runner: ScriptRunner, options: RecordOptions) {
    this.#runner = runner
    this.#options = options
    this.#record = slotRecord(options.key, options.slot)
    this.lock = slotLock(options.key, options.slot)
  }

  get #due(): string {
    return this.#options.due === undefined ? '' : String(this.#options.due)
  }

  async look(): Promise<Look> {
    const reply = await this.#runner.run(slotsLook, [this.#record, this.lock], [])
    const [state, run, attempt, token, began, ended, running, now] = reply
    return {
      state: stateOf(state, running > 0),
      client: clientOf(run ?? ''),
      attempt: numberOf(attempt) ?? 0,
      token: token !== null && /^\d{1,19}$/.test(token) ? BigInt(token) : undefined,
      began: numberOf(began),
      ended: numberOf(ended),
      running: running > 0,
      now,
    }
  }

  /** `undefined`: the slot has ended, was tried too many times, or the lock no longer belongs to this owner. */
  async claim(owner: string, most: number): Promise<Claimed | undefined> {
    const { key, run, kept, newest } = this.#options
    const keys = [this.#record, this.lock, slotsToken(key), slotsLast(key)] as const
    const args = [owner, run, most, this.#due, kept, String(newestOf(newest, key))] as const
    const reply = await this.#runner.take(slotsClaim, keys, args, (claimed) => claimed !== null)
    if (reply === null) return undefined
    const token = BigInt(reply[0])
    remember(newest, key, token)
    return { token, attempt: reply[1] }
  }

  /** `false`: another process has the slot. */
  async finish(state: 'ran' | 'failed', { attempt, token }: Claimed): Promise<boolean> {
    const { run, kept } = this.#options
    return (await this.#runner.run(slotsFinish, [this.#record], [run, state, kept, attempt, String(token)])) === 1
  }

  /** A claimed slot, if it was claimed, did not start. */
  giveBack(): Promise<number> {
    const { run, kept } = this.#options
    return this.#runner.run(slotsFinish, [this.#record], [run, '', kept, 0, ''])
  }

  async skip(): Promise<boolean> {
    const { key, run, kept } = this.#options
    const keys = [this.#record, slotsLast(key)] as const
    return (await this.#runner.run(slotsSkip, keys, [run, this.#due, kept])) === 1
  }
}

/** Any other text in the record means that the slot was claimed, too. */
const stateOf = (state: string | null, running: boolean): Look['state'] => {
  if (state === null) return undefined
  if (ENDS.includes(state)) return state as 'ran' | 'failed' | 'skipped'
  return running ? 'running' : 'crashed'
}
