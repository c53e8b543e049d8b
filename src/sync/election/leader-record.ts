import { platform } from '#platform'
import type { Codec } from '../../api/codec.js'
import type { Runtime } from '../../core/client/runtime.js'
import { NamedRunner } from '../../core/client/named-runner.js'
import { clientOf, leaderChannel, leaderKey } from '../../keys.js'
import { electionLeader, electionProclaim, electionWithdraw } from '../../lua/scripts.gen.js'
import type { ScriptRunner } from '../../core/protocol/script-runner.js'
import { readWritten, type Written, written } from '../../codecs/value-as-text.js'
import { quoted } from '../../plain-text.js'
import { LONGEST_VALUE } from '../../script-times-and-limits.js'

/** What a leader publishes about itself. */
export interface Claim extends Written {
  readonly owner: string
  readonly term: bigint
  /** Grows with each value of a term. */
  readonly revision: number
}

/** What the server knows about the leader. */
export interface Reading {
  readonly client: string
  readonly term: bigint
  readonly revision: number
  readonly since: number
  readonly value: unknown
  /** ms until the lock expires. */
  readonly left: number
  /** The server's time, ms since the epoch. */
  readonly now: number
}

/** How many leases the leader's record is kept. It counts only while the lock belongs to the leader. */
const KEPT = 3

const WHOLE = /^\d{1,19}$/
const MOMENT = /^\d{1,15}$/

/** The leader's record on the server. */
export class LeaderRecord {
  readonly channel: string
  readonly #key: string
  readonly #leader: string
  readonly #runtime: Runtime
  readonly #runner: ScriptRunner
  readonly #codec: Codec
  /** The unreadable value that was reported last. */
  #unreadable: string | undefined

  constructor(runtime: Runtime, name: string, key: string) {
    this.#key = key
    this.#leader = leaderKey(key)
    this.channel = leaderChannel(key)
    this.#runtime = runtime
    this.#runner = new NamedRunner(runtime, name)
    this.#codec = runtime.options.codec
  }

  write(value: unknown): Written {
    const text = written(this.#codec, value, 'value')
    const bytes = platform.utf8Length(text.data)
    if (bytes <= LONGEST_VALUE) return text
    throw new RangeError(
      `the value of the leader is too long: it has ${bytes} bytes as text, and may have ${LONGEST_VALUE}`,
    )
  }

  /** `false`: the lock no longer belongs to the owner. */
  async proclaim(claim: Claim, lease: number, isChange: boolean): Promise<boolean> {
    const { owner, term, revision, form, data } = claim
    const keys = [this.#key, this.#leader, this.channel] as const
    const publish = isChange ? this.#runtime.publishCommand : ''
    const args = [owner, String(term), revision, form, data, KEPT * lease, publish] as const
    return (await this.#runner.run(electionProclaim, keys, args)) === 1
  }

  withdraw(owner: string): Promise<unknown> {
    const keys = [this.#leader, this.channel] as const
    return this.#runner.run(electionWithdraw, keys, [owner, this.#runtime.publishCommand])
  }

  async read(): Promise<Reading | undefined> {
    const reply = await this.#runner.run(electionLeader, [this.#key, this.#leader], [])
    if (reply === null) return undefined
    const [owner, term, revision, since, form, data, left, now] = reply
    // Another program may have written anything.
    if (!WHOLE.test(term ?? '') || !MOMENT.test(revision ?? '') || !MOMENT.test(since ?? '')) return undefined
    return {
      client: clientOf(owner),
      term: BigInt(term as string),
      revision: Number(revision),
      since: Number(since),
      value: this.#valueOf(form, data ?? '', `${term} ${revision}`),
      left,
      now,
    }
  }

  #valueOf(form: string | null, data: string, which: string): unknown {
    if (form !== 'text' && form !== 'base64') return undefined
    try {
      return readWritten(this.#codec, { form, data })
    } catch (error) {
      if (which === this.#unreadable) return undefined
      this.#unreadable = which
      this.#runtime.fail(error, `the value of the leader at ${quoted(this.#leader)} cannot be read`)
      return undefined
    }
  }
}
