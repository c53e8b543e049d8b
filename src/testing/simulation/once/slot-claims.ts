import type { SlotResult } from '../../../api/slots.js'
import { ClosedError, LockLostError } from '../../../errors.js'
import { WorkFailed } from '../sim-process.js'
import type { Asked } from '../tally.js'
import type { Verdict } from '../verdict.js'
import type { Believer } from './believers.js'

/** What the server was told of one slot. */
interface Claims {
  /** The clients that ever claimed it. */
  readonly by: Set<string>
  /** The run that ended, as the server has it. */
  end: { readonly run: string; readonly state: string } | undefined
  /** Runs, each by its client and its token: a server that lost its data gives a token again. */
  readonly refused: Set<string>
  skipped: boolean
  /** When its record was last deleted: calls that asked before that may still be told of earlier claims. */
  deletedAt: number
}

type Believed = Believer & { readonly attempt: number }
type Ended = Exclude<SlotResult<string>, { outcome: 'skipped' }>
type Skipped = Extract<SlotResult<string>, { outcome: 'skipped' }>

/** What may become of each slot, by what the server has said about it. */
export class SlotClaims {
  readonly #verdict: Verdict
  readonly #slots = new Map<string, Claims>()
  /** By name. */
  readonly #newest = new Map<string, bigint>()
  /** By run. */
  readonly #tokens = new Map<string, bigint>()
  /** By place and token: when the server last said that it is claimed. */
  readonly #claimedAt = new Map<string, number>()

  constructor(verdict: Verdict) {
    this.#verdict = verdict
  }

  #at(place: string): Claims {
    const known = this.#slots.get(place)
    if (known !== undefined) return known
    const claims: Claims = { by: new Set(), end: undefined, refused: new Set(), skipped: false, deletedAt: -Infinity }
    this.#slots.set(place, claims)
    return claims
  }

  /** A run that asks again, because an answer was lost, has the token that it had. */
  claimed(place: string, { by, run, token, at }: { by: string; run: string; token: bigint; at: number }): void {
    this.#claimedAt.set(`${place} ${token}`, at)
    this.#at(place).by.add(by)
    const name = place.slice(0, place.lastIndexOf('/'))
    const newest = this.#newest.get(name) ?? 0n
    if (token <= newest && this.#tokens.get(run) !== token)
      this.#verdict.violation('token', `${run} is given token ${token} of '${name}' after ${newest}`)
    this.#tokens.set(run, token)
    if (token > newest) this.#newest.set(name, token)
  }

  /** Its lock was deleted between its claim and now: it may not know yet. */
  isDeletedSince(place: string, token: bigint): boolean {
    return (this.#claimedAt.get(`${place} ${token}`) ?? -Infinity) <= this.#at(place).deletedAt
  }

  wiped(): void {
    this.#newest.clear()
  }

  wasSkipped(place: string, client: string): void {
    const claims = this.#at(place)
    claims.by.add(client)
    claims.skipped = true
  }

  /** `args`: those of `finish.lua`. */
  finished(place: string, [by = '', state = '', , , token = '']: readonly string[], isWritten: boolean): void {
    const claims = this.#at(place)
    const { end } = claims
    const run = runOf(by.slice(0, by.lastIndexOf(':')), token)
    if (!isWritten) claims.refused.add(run)
    else if (end !== undefined && end.run !== run)
      this.#verdict.violation('end', `'${place}' ends with ${run}, though it ended with ${end.run}`)
    else claims.end = { run, state }
    // The run that had taken over gave the slot back before this was asked again.
    if (isWritten) claims.refused.delete(run)
  }

  /** Its record was deleted. */
  forget(place: string, at: number): void {
    const claims = this.#at(place)
    ;[claims.end, claims.skipped, claims.deletedAt] = [undefined, false, at]
  }

  /** `before`: the runs before it. */
  begins(
    { id, of, attempt, token, excused }: Believed,
    { retry, before }: { retry: number; before: readonly Believed[] },
  ): void {
    const { end, skipped } = this.#at(of)
    const newest = before.at(-1)
    if (attempt > 1 + retry) this.#verdict.violation('retry', `${id} runs '${of}', though its retry is ${retry}`)
    // It was claimed before others deleted the slot, and begins after that.
    if (excused) return
    if (end !== undefined) this.#verdict.violation('once', `${id} runs '${of}', which has ${end.state}`)
    if (skipped) this.#verdict.violation('once', `${id} runs '${of}', which was skipped`)
    if (newest !== undefined && token <= newest.token)
      this.#verdict.violation('token', `${id} runs '${of}' with token ${token} after ${newest.token}`)
    if (newest !== undefined && attempt <= newest.attempt)
      this.#verdict.violation('retry', `${id} runs '${of}' after attempt ${newest.attempt} (${newest.id})`)
  }

  /** What a run is told of itself, by what its work did and what the server said. `fails`: its work throws, unless it is stopped. */
  ended({ id, of, process, token, attempt, signal }: Believed, result: Ended, fails: boolean): void {
    const tell = (what: string): void => this.#verdict.violation('outcome', `${id} is told '${result.outcome}' ${what}`)
    const { end, refused } = this.#at(of)
    const run = runOf(String(process.client?.id), token)
    const written = end?.run === run ? end.state : undefined
    if (result.token !== token || result.attempt !== attempt) tell(`of token ${result.token}, which is not its own`)
    if (result.outcome === 'ran') {
      if (fails || result.value !== id) tell(`with ${result.value}, which its work did not return`)
      if (refused.has(run)) tell('although the server refused its end')
      if (written === 'failed') tell('although it is stored that it failed')
    } else if (result.error instanceof WorkFailed) {
      if (!fails || result.error.message !== id) tell(`with ${result.error.message}, which its work did not throw`)
      if (written === 'ran') tell('although it is stored that it ran')
    } else if (result.error instanceof ClosedError) {
      if (process.closing === undefined) tell('as if its client had closed')
    } else if (!(result.error instanceof LockLostError)) tell(`with ${String(result.error)}`)
    else if (!refused.has(run) && !signal.aborted) tell('although nobody has taken over')
  }

  skipped({ id, since }: Asked, place: string, { reason, by }: Skipped): void {
    const { by: all, end, skipped, deletedAt } = this.#at(place)
    if (by === undefined ? reason !== 'running' && reason !== 'crashed' : !all.has(by.client))
      this.#verdict.violation('skipped', `${id} is skipped (${reason}) by ${by?.client}, who never claimed '${place}'`)
    if (since <= deletedAt) return
    if ((reason === 'ran' || reason === 'failed') && end?.state !== reason)
      this.#verdict.violation('skipped', `${id} is skipped because '${place}' ${reason}, but: ${end?.state}`)
    if (reason === 'skipped' && !skipped)
      this.#verdict.violation('skipped', `${id} is skipped because '${place}' was, which it was not`)
    if (reason === 'early' || reason === 'late')
      this.#verdict.violation('skipped', `${id} is skipped because '${place}' is ${reason}, which has no time`)
  }
}

const runOf = (client: string, token: bigint | string): string => `${client} with token ${token}`
