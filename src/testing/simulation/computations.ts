import type { FlightRun } from '../../api/flight.js'
import { flightLock } from '../../keys.js'
import type { Reply } from '../../lua/values.js'
import { ANY_TOKEN } from '../../sync/flight/flight-record.js'
import type { Flight } from './sent-command.js'
import type { Party } from './party.js'
import type { SimProcess } from './sim-process.js'
import type { Asked } from './tally.js'
import type { Scene, Verdict } from './verdict.js'

/** What all flights of a history compute. */
export const KEY = 'k'

/** A value that was computed says by which computation. */
export interface Seen {
  readonly id: string
  readonly more: string
}

/** The work of one call, run once. */
export interface Computed {
  readonly id: string
  readonly name: string
  readonly process: SimProcess
  readonly token: bigint
  readonly signal: AbortSignal
  /** World time at which the server gave it its token. */
  readonly claimedAt: number
  running: boolean
  /** Its work threw. */
  failed: boolean
  endedAt: number | undefined
  /** What the server said to its end. */
  stored: 'value' | 'failed' | 'refused' | undefined
  /** Somebody deleted its lock: it may run on beside the next until it hears of it. */
  excused: boolean
}

interface Claim {
  readonly at: number
  excused: boolean
}

/** A return of a stored value. */
interface Return {
  readonly token: bigint
  readonly at: number
}

/** All computations of a history, and what was seen of each. */
export class Computations {
  readonly #scene: Scene
  readonly #verdict: Verdict
  readonly #all = new Map<string, Computed>()
  /** By process, name and token. */
  readonly #claims = new Map<string, Claim>()
  readonly #newestToken = new Map<string, bigint>()
  /** How the newest computation of a name ended, and when, as long as that is kept. */
  readonly #newestEnd = new Map<
    string,
    { readonly id: string; readonly state: string; readonly at: number; readonly until: number }
  >()
  /** When a call of this process last looked at this name for the first time. */
  readonly #lookedAt = new Map<string, number>()
  readonly #returns = new Map<string, Return[]>()
  readonly #forgotten = new Map<string, { readonly from: number; to: number }[]>()
  /** When the server last lost its data. */
  #wipedAt = -Infinity
  #count = 0

  constructor(scene: Scene, verdict: Verdict) {
    this.#scene = scene
    this.#verdict = verdict
  }

  get #now(): number {
    return this.#scene.world.now
  }

  // ---- what callers see ----------------------------------------------------------------------------------------------

  begins({ process, name, since }: Asked, { token, signal }: FlightRun): Computed {
    const id = `${process.name}/${name}/${token}/${++this.#count}`
    const claim = this.#claims.get(claimOf(process, name, token))
    if (claim === undefined) this.#verdict.violation('token', `${id} computes with a token that nobody gave it`)
    const end = this.#newestEnd.get(name)
    const lookedAt = this.#lookedAt.get(`${process.name} ${name}`) ?? 0
    // A server that lost its data may give a token again; who was released by force meanwhile does not know it yet.
    const excused = Math.min(since, lookedAt) <= this.#wipedAt || claim?.excused === true
    if (!excused && end?.state === 'value' && end.at > lookedAt && end.until > this.#now)
      this.#verdict.violation('once', `${id} computes, though ${end.id} has been stored since its caller looked`)
    const computed: Computed = {
      ...{ id, name, process, token, signal, running: true, failed: false, endedAt: undefined, stored: undefined },
      ...{ claimedAt: claim?.at ?? 0, excused: claim?.excused ?? false },
    }
    this.#all.set(id, computed)
    this.#scene.note(process.name, `${id} computes`)
    return computed
  }

  seen(call: Asked, value: Seen, shared: boolean, own: readonly Computed[]): void {
    const { id, more } = value
    const computed = this.#all.get(id)
    if (computed?.name !== call.name || (more !== '' && more.length !== 20_000)) {
      this.#verdict.violation('value', `${call.id} has a value of '${call.name}' that nobody computed: ${id}`)
      return
    }
    this.#scene.note(call.process.name, `${call.id} has the value of ${id}`)
    if (shared === own.includes(computed))
      this.#verdict.violation('shared', `${call.id} gets the value of ${id} with shared: ${shared}, which is wrong`)
    // Whose own work it was does not wait for a server that does not answer.
    if (own.includes(computed) && call.process.troubledUntil >= this.#now && computed.stored !== 'value') return
    this.#checkStored(call, computed)
    this.#checkOrder(call, computed)
  }

  failureSeen(call: Asked, id: string): void {
    const computed = this.#all.get(id)
    if (computed === undefined)
      this.#verdict.violation('failure', `${call.id} rejects with the failure of ${id}, which does not exist`)
    else if (!computed.failed)
      this.#verdict.violation('failure', `${call.id} is told that ${id} failed, which it did not`)
    else if (computed.process !== call.process && computed.stored !== 'failed')
      this.#verdict.violation(
        'failure',
        `${call.id} is told that ${id} failed, which was not stored (${computed.stored})`,
      )
    else if (computed.stored === 'refused')
      this.#verdict.violation('failure', `${call.id} is told that ${id} failed, which was refused`)
    else if ((computed.endedAt ?? Infinity) < call.since)
      this.#verdict.violation('failure', `${call.id} rejects with the failure of ${id}, which was before it asked`)
  }

  #checkStored({ id, process }: Asked, { id: computation, process: by, stored }: Computed): void {
    if (stored === 'refused') this.#verdict.violation('late', `${id} sees ${computation}, which was refused`)
    if (stored !== 'value' && by !== process)
      this.#verdict.violation('late', `${id} sees ${computation}, which was never stored`)
  }

  /** Nobody sees what is older than what somebody had before he asked, or what was forgotten by then. */
  #checkOrder(call: Asked, { id, token, claimedAt, stored }: Computed): void {
    const { name, since } = call
    const returns = this.#returns.get(name) ?? []
    const newer = returns.find((one) => one.at < since && one.token > token)
    if (newer !== undefined)
      this.#verdict.violation('late', `${call.id} sees ${id} after token ${newer.token} was seen`)
    if ((this.#forgotten.get(name) ?? []).some(({ from, to }) => to < since && claimedAt < from))
      this.#verdict.violation('late', `${call.id} sees ${id}, which was forgotten before it asked`)
    if (stored === 'value') this.#returns.set(name, [...returns, { token, at: this.#now }])
  }

  /** Called when somebody begins to forget; what it returns, when that has been done. */
  forgets(name: string): () => void {
    const span = { from: this.#now, to: Infinity }
    this.#forgotten.set(name, [...(this.#forgotten.get(name) ?? []), span])
    return () => (span.to = this.#now)
  }

  // ---- what the server does ------------------------------------------------------------------------------------------

  executed(process: Party, { op, keys, args }: Flight, reply: Reply): void {
    const name = this.#scene.locks.find((one) => keys.some((key) => key === flightLock(one, KEY)))
    if (op === 'flight/forget') {
      const forgotten = this.#scene.locks.find((one) => keys[0]?.includes(`{${one}}`))
      if (forgotten !== undefined) this.#newestEnd.delete(forgotten)
    }
    if (name === undefined) return
    if (op === 'flight/look' && args[0] === String(ANY_TOKEN)) this.#lookedAt.set(`${process.name} ${name}`, this.#now)
    if (op === 'flight/claim' && reply !== null) this.#claimed(process, name, BigInt(String(reply)))
    if (op === 'flight/finish')
      this.#finished(process, name, BigInt(String(args[1])), { state: String(args[2]), kept: Number(args[5]), reply })
    if (op === 'lock/force-release') this.#excuse(name)
  }

  #claimed(process: Party, name: string, token: bigint): void {
    if (token <= (this.#newestToken.get(name) ?? 0n))
      this.#verdict.violation('token', `${process.name} is given token ${token} of '${name}', which is not the newest`)
    this.#newestToken.set(name, token)
    this.#claims.set(claimOf(process, name, token), { at: this.#now, excused: false })
  }

  #finished(
    process: Party,
    name: string,
    token: bigint,
    { state, kept, reply }: { state: string; kept: number; reply: Reply },
  ): void {
    const all = [...this.#all.values()]
    const computed = all.find((one) => one.process === process && one.name === name && one.token === token)
    if (computed === undefined) return
    computed.endedAt ??= this.#now
    if (Number(reply) === 1) {
      computed.stored = state as 'value' | 'failed'
      // Stored once more where the answer was lost.
      if (this.#newestEnd.get(name)?.id !== computed.id)
        this.#newestEnd.set(name, { id: computed.id, state, at: this.#now, until: this.#now + kept })
    } else computed.stored ??= 'refused'
  }

  /** Whoever computes may not know that its lock is gone. */
  #excuse(name: string): void {
    for (const computed of this.#all.values()) if (computed.name === name) computed.excused = true
    for (const [claim, its] of this.#claims) if (claim.split(' ')[1] === name) its.excused = true
  }

  deleted(name: string): void {
    this.#newestEnd.delete(name)
    this.#excuse(name)
  }

  wiped(): void {
    this.#wipedAt = this.#now
    this.#newestToken.clear()
    // Tokens may begin anew.
    this.#returns.clear()
    for (const name of this.#scene.locks) this.deleted(name)
  }

  /** After everything that happens: who computes and believes to be alone is alone. */
  check(name: string): void {
    const believing = [...this.#all.values()].filter(
      (one) => one.name === name && one.running && !one.excused && this.#believes(one),
    )
    const [one, other] = believing
    if (one !== undefined && other !== undefined)
      this.#verdict.violation('once', `${one.id} and ${other.id} compute side by side`)
    const [holder] = this.#scene.server.redis.execute(['HKEYS', flightLock(name, KEY)]) as string[]
    if (one !== undefined && holder?.startsWith(String(one.process.client?.id)) !== true)
      this.#verdict.violation(
        'belief',
        `${one.id} believes that it computes, while the lock is ${holder ?? 'nobody'}'s`,
      )
  }

  #believes({ process: { machine }, signal }: Computed): boolean {
    return !machine.dead && !machine.stopped && machine.observe(() => !signal.aborted)
  }
}

const claimOf = (process: Party, name: string, token: bigint): string => `${process.name} ${name} ${token}`
