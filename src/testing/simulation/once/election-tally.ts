import type { Client } from '../../../api/client.js'
import type { Election, Leader, Term } from '../../../api/election.js'
import type { MemoryServer } from '../../../engine/memory/server.js'
import { leaderKey } from '../../../keys.js'
import { checkError } from '../any-call.js'
import type { Flight } from '../sent-command.js'
import type { Party } from '../party.js'
import { type SimProcess, work, WorkFailed } from '../sim-process.js'
import { type Asked, Tally } from '../tally.js'
import type { Step } from '../worker-program.js'
import { type Believer, Believers } from './believers.js'

/** The lock is gone, as if somebody else had deleted it. */
export const electionUnmade = (redis: MemoryServer, name: string): void => {
  redis.execute(['DEL', name, leaderKey(name)])
}

interface LeaderTerm extends Believer {
  readonly call: string
}

/** How long an observer looks on after the time that its step takes, ms. */
const LOOKS_ON = 500
/** Work that lost so many terms is short from then on: with a short lease, faults may end each of its terms. */
const MOST_TERMS = 20

/**
 * Elections: never do two terms believe side by side; no term believes while the server has another client's as holder; terms only grow; those who ask and those
 * who observe see leaders that there were, observers in order; and no candidate waits on where nobody leads.
 */
export class ElectionTally extends Tally {
  protected override readonly ordered = false
  readonly #terms = new Believers<LeaderTerm>()
  readonly #newest = new Map<string, bigint>()
  /** Terms may begin anew each time the server loses its data, or somebody deletes them. */
  #losses = 0
  readonly #lostAt = new Map<string, number>()
  /** When the server last wrote down that this process leads. */
  readonly #writtenAt = new Map<string, number>()

  protected async perform(worker: string, process: SimProcess, step: Step): Promise<void> {
    const election = (process.client as Client).election<string>(step.name)
    if (step.does === 'inspect') this.#seen(process, step, await election.leader())
    else if (step.does === 'force') await election.resign()
    else if (step.does === 'try') await this.#observes(process, step, election)
    else {
      const wish = { amount: 1, wait: Infinity }
      await this.asks(process, step, wish, (call, signal) => this.#leads(call, step, { worker, election, signal }))
    }
  }

  async #leads(
    call: Asked,
    step: Step,
    { worker, election, signal }: { worker: string; election: Election<string>; signal: AbortSignal | undefined },
  ): Promise<boolean> {
    const options = { signal, value: worker, lease: step.lease === undefined ? undefined : Math.max(100, step.lease) }
    try {
      await election.lead(options, (term) => this.#works(call, step, term))
    } catch (error) {
      if (!(error instanceof WorkFailed)) throw error
    } finally {
      // It may have waited for the answer of a command.
      call.process.calls.delete(call)
    }
    return true
  }

  async #works(call: Asked, step: Step, { term, signal }: Term): Promise<void> {
    const { process, name } = call
    this.served(call)
    const one: LeaderTerm = {
      call: call.id,
      ...{ id: `${call.id} in term ${term}`, of: name, process, token: term, signal },
      ...{ running: true, excused: this.#isLost(process, name) },
    }
    this.#begins(one)
    process.visits.add(call)
    const terms = this.#terms.of(name).filter(({ call: by }) => by === call.id).length
    await work(process, one, step, terms > MOST_TERMS ? 0 : step.work)
    process.visits.delete(call)
    this.#terms.ends(one)
    if (step.end === 'detach') throw new WorkFailed(one.id)
    // It waits for the next term, unless it was told to stop.
    if (signal.aborted && call.controller?.signal.aborted !== true && process.living) process.calls.add(call)
  }

  #begins(term: LeaderTerm): void {
    const { id, of: name, token, process } = term
    const newest = this.#newest.get(name) ?? 0n
    if (token <= newest && !term.excused) this.verdict.violation('term', `${id} begins after term ${newest}`)
    if (token > newest) this.#newest.set(name, token)
    this.#terms.begins(term)
    this.scene.note(process.name, `${id} begins`)
  }

  async #observes(process: SimProcess, step: Step, election: Election<string>): Promise<void> {
    const end = new AbortController()
    process.machine.setTimer(() => end.abort(new WorkFailed('it has seen enough')), step.work + LOOKS_ON)
    let last: Leader<string> | undefined
    const losses = this.#losses
    let back = 0
    try {
      for await (const leader of election.observe({ signal: end.signal })) {
        this.#seen(process, step, leader)
        if (leader !== undefined && last !== undefined && leader.term < last.term && ++back > this.#losses - losses)
          this.verdict.violation('observer', `${step.id} sees term ${leader.term} after ${last.term}`)
        last = leader ?? last
      }
    } catch (error) {
      if (!(error instanceof WorkFailed)) checkError({ process, step: step.id, error }, this.scene, this.verdict)
    }
  }

  /** A leader is shown once it has begun, or just before. */
  #seen({ name: who }: SimProcess, { id, name }: Step, leader: Leader<string> | undefined): void {
    if (leader === undefined) return
    this.scene.note(who, `${id} sees term ${leader.term}`)
    const known = this.scene.processes.find(({ client }) => client?.id === leader.client)
    if (known === undefined || leader.value?.startsWith(`${known.name}.`) !== true)
      this.verdict.violation('leader', `${id} sees ${leader.client} lead '${name}' with ${String(leader.value)}`)
    // A server that lost its data may give a term again.
    const same = this.#terms.of(name).filter(({ token }) => token === leader.term)
    const other = same.find(({ excused }) => !excused)
    if (other !== undefined && same.every(({ process }) => process !== known))
      this.verdict.violation('leader', `${id} sees ${String(known?.name)} in term ${leader.term}, which is ${other.id}`)
  }

  // ---- what the server does ------------------------------------------------------------------------------------------

  executing(): void {
    // What counts is who holds the lock after it.
  }

  executed(process: Party, { op, keys }: Flight): void {
    if (op !== 'election/proclaim') return
    for (const name of this.scene.locks)
      if (keys.includes(leaderKey(name))) this.#writtenAt.set(`${process.name} ${name}`, this.scene.world.now)
  }

  /** Its lock was deleted after the server made it the leader: it may not know yet. */
  #isLost(process: SimProcess, name: string): boolean {
    return (this.#lostAt.get(name) ?? -Infinity) >= (this.#writtenAt.get(`${process.name} ${name}`) ?? -Infinity)
  }

  override taken(name: string): void {
    this.#losses++
    this.#lostAt.set(name, this.scene.world.now)
    this.#terms.excuse((of) => of === name)
  }

  override wiped(): void {
    super.wiped()
    this.#losses++
    for (const name of this.scene.locks) this.#lostAt.set(name, this.scene.world.now)
    this.#newest.clear()
    this.#terms.excuse(() => true)
  }

  #holders(name: string): readonly string[] {
    return this.scene.server.redis.execute(['HKEYS', name]) as string[]
  }

  protected isPossible({ name, process }: Asked): boolean {
    // A candidate of the same process may keep the lease until its work has ended.
    if ([...process.visits].some((visit) => visit.name === name)) return false
    return this.#holders(name).length === 0
  }

  protected checkServer(name: string): void {
    const believing = this.#terms.believing(name)
    const [one, other] = believing
    if (one !== undefined && other !== undefined)
      this.verdict.violation('once', `${one.id} and ${other.id} lead side by side`)
    if (one === undefined) return
    const [holder] = this.#holders(name)
    if (holder?.startsWith(`${one.process.client?.id}`) !== true)
      this.verdict.violation('belief', `${one.id} believes that it leads, while the lock is ${holder ?? 'nobody'}'s`)
  }

  protected checkSettled({ client, name: who }: SimProcess, name: string): void {
    if (this.#holders(name).some((holder) => holder.includes(`${client?.id}`)))
      this.verdict.violation('left over', `${who} still leads '${name}'`)
  }
}
