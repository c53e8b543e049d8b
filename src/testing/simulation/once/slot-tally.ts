import type { Client } from '../../../api/client.js'
import type { SlotResult, SlotRun } from '../../../api/slots.js'
import type { MemoryServer } from '../../../engine/memory/server.js'
import { slotLock, slotRecord } from '../../../keys.js'
import type { Reply } from '../../../lua/values.js'
import type { Flight } from '../sent-command.js'
import type { Party } from '../party.js'
import { type SimProcess, work, WorkFailed } from '../sim-process.js'
import { type Asked, Tally } from '../tally.js'
import type { Step } from '../worker-program.js'
import { type Believer, Believers } from './believers.js'
import { SlotClaims } from './slot-claims.js'

/** The n-th step of each worker is about the n-th slot. */
const SLOTS = ['s0', 's1', 's2', 's3'] as const

const slotOf = ({ id }: Step): string => id.slice(id.lastIndexOf('.') + 1)

const placeOf = (name: string, slot: string): string => `${name}/${slot}`

/** The slots were never claimed, as if somebody else had deleted them. */
export const slotsUnmade = (redis: MemoryServer, name: string): void => {
  for (const slot of SLOTS) redis.execute(['DEL', slotLock(name, slot), slotRecord(name, slot)])
}

interface Run extends Believer {
  readonly attempt: number
}

/**
 * Slots: two runs of a slot never believe side by side; a slot runs again only if its run before has not ended, and only as often as `retry` says; it ends once;
 * a call that is skipped is told why, and by whom; and nobody waits on where nobody runs.
 */
export class SlotTally extends Tally {
  protected override readonly ordered = false
  readonly #runs = new Believers<Run>()
  readonly #claims = new SlotClaims(this.verdict)

  protected async perform(_worker: string, process: SimProcess, step: Step): Promise<void> {
    const { name, does } = step
    const slots = (process.client as Client).slots(name)
    if (does === 'inspect') await slots.inspect(slotOf(step))
    else if (does === 'force') await slots.skip(slotOf(step))
    else {
      const wish = { amount: 1, wait: does === 'try' ? 0 : Infinity }
      await this.asks(process, step, wish, (call, signal) => this.#runsSlot(call, step, signal))
    }
  }

  async #runsSlot(call: Asked, step: Step, signal: AbortSignal | undefined): Promise<boolean> {
    const { process, name } = call
    const retry = step.does === 'try' ? 0 : 2
    const lease = step.lease === undefined ? undefined : Math.max(100, step.lease)
    const own: Run[] = []
    try {
      const result = await (process.client as Client)
        .slots(name)
        .run(slotOf(step), { retry, lease, signal }, (run) => this.#works(call, step, { run, own, retry }))
      this.#settled(call, step, { result, own })
      return true
    } finally {
      // It may have waited for the answer of a command.
      process.calls.delete(call)
    }
  }

  async #works(
    call: Asked,
    step: Step,
    { run, own, retry }: { run: SlotRun; own: Run[]; retry: number },
  ): Promise<string> {
    const { process, name } = call
    this.served(call)
    const { token, attempt, signal } = run
    const one: Run = {
      ...{ id: `${call.id} of ${slotOf(step)}, attempt ${attempt}`, of: placeOf(name, slotOf(step)) },
      ...{ process, token, attempt, signal, running: true },
      excused: this.#claims.isDeletedSince(placeOf(name, slotOf(step)), token),
    }
    own.push(one)
    this.#begins(one, retry)
    process.visits.add(call)
    await work(process, run, step, step.work)
    process.visits.delete(call)
    this.#runs.ends(one)
    if (step.end === 'detach') throw new WorkFailed(one.id)
    return one.id
  }

  #begins(run: Run, retry: number): void {
    const { id, of, token, attempt, process } = run
    this.#claims.begins(run, { retry, before: this.#runs.of(of).filter(({ excused }) => !excused) })
    this.#runs.begins(run)
    this.scene.note(process.name, `${id} runs: ${of}, attempt ${attempt}, token ${token}`)
  }

  #settled(call: Asked, step: Step, { result, own }: { result: SlotResult<string>; own: readonly Run[] }): void {
    const { id, name } = call
    const { outcome } = result
    if (own.length > 1 || (outcome === 'skipped') === own.length > 0)
      this.verdict.violation('outcome', `${id} is told '${outcome}' after ${own.length} runs`)
    const [run] = own
    if (outcome === 'skipped') this.#claims.skipped(call, placeOf(name, slotOf(step)), result)
    else if (run !== undefined) this.#claims.ended(run, result, step.end === 'detach')
  }

  // ---- what the server does ------------------------------------------------------------------------------------------

  executing(): void {
    // What it did is judged by its reply.
  }

  executed(process: Party, { op, keys, args }: Flight, reply: Reply | Error): void {
    if (reply instanceof Error || !op.startsWith('slots/')) return
    const { locks } = this.scene
    const places = locks.flatMap((name) => SLOTS.map((slot) => [placeOf(name, slot), slotRecord(name, slot)] as const))
    const place = places.find(([, record]) => record === keys[0])?.[0]
    if (place === undefined) return
    const by = String((process as SimProcess).client?.id)
    const at = this.scene.world.now
    if (op === 'slots/claim' && reply !== null)
      this.#claims.claimed(place, { by, run: String(args[1]), token: BigInt(String((reply as Reply[])[0])), at })
    if (op === 'slots/skip' && Number(reply) === 1) this.#claims.wasSkipped(place, by)
    if (op === 'slots/finish' && args[1] !== '') this.#claims.finished(place, args.map(String), Number(reply) === 1)
  }

  override taken(name: string): void {
    for (const slot of SLOTS) this.#claims.forget(placeOf(name, slot), this.scene.world.now)
    this.#runs.excuse((of) => of.startsWith(`${name}/`))
  }

  override wiped(): void {
    super.wiped()
    this.#claims.wiped()
    for (const name of this.scene.locks) this.taken(name)
  }

  #holders(name: string, slot: string): readonly string[] {
    return this.scene.server.redis.execute(['HKEYS', slotLock(name, slot)]) as string[]
  }

  /** A run that does not know yet that it has lost its slot may go on. */
  protected isPossible({ name, process, id }: Asked): boolean {
    if ([...process.visits].some((visit) => visit.name === name)) return false
    const slot = id.slice(id.lastIndexOf('.') + 1, id.indexOf('#'))
    return this.#holders(name, slot).length === 0
  }

  protected checkServer(name: string): void {
    for (const slot of SLOTS) this.#checkSlot(name, slot)
  }

  #checkSlot(name: string, slot: string): void {
    const [one, other] = this.#runs.believing(placeOf(name, slot))
    if (one !== undefined && other !== undefined)
      this.verdict.violation('once', `${one.id} and ${other.id} run side by side`)
    if (one === undefined) return
    const [holder] = this.#holders(name, slot)
    if (holder?.startsWith(`${one.process.client?.id}`) !== true)
      this.verdict.violation('belief', `${one.id} believes that it runs, while the lock is ${holder ?? 'nobody'}'s`)
  }

  protected checkSettled({ client, name: who }: SimProcess, name: string): void {
    for (const slot of SLOTS)
      if (this.#holders(name, slot).some((holder) => holder.includes(`${client?.id}`)))
        this.verdict.violation('left over', `${who} still holds the lock of '${placeOf(name, slot)}'`)
  }
}
