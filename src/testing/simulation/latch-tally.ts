import type { Client } from '../../api/client.js'
import type { MemoryServer } from '../../engine/memory/server.js'
import type { Flight } from './sent-command.js'
import type { Party } from './party.js'
import type { SimProcess } from './sim-process.js'
import type { Step } from './worker-program.js'
import { type Asked, Ledger, Tally } from './tally.js'

const COUNT = 3

/** Before anybody comes. */
export const latchMade = (redis: MemoryServer, name: string): void => {
  redis.execute(['SET', name, String(COUNT)])
}

/** A latch: nobody passes before it is open, nobody waits when it is, and nobody counts down twice for one call. */
export class LatchTally extends Tally {
  /** When each was open the last time; now, if it is. */
  readonly #openAt = new Map<string, number>()
  /** Notes of calls that have counted down by one. */
  readonly #counted = new Set<string>()
  /** Notes that the server has seen, and calls that were told that they have counted, by process. */
  readonly #seen = new Map<Party, Set<string>>()
  readonly #told = new Ledger()
  #before: ReadonlyMap<string, number> = new Map()

  protected async perform(_worker: string, process: SimProcess, step: Step): Promise<void> {
    const { name, does, work } = step
    const latch = (process.client as Client).countDownLatch(name)
    if (does === 'inspect') await latch.count()
    else if (does === 'force') await (step.shared ? latch.trySetCount(COUNT) : latch.delete())
    else if (does === 'hold' && step.nestedShared) {
      await process.sleep(work / 2)
      if (process.closing !== undefined) return
      await latch.countDown()
      this.#told.add(process, name, 1)
    } else {
      await this.asks(process, step, { amount: 1, wait: this.waitOf(step) }, async (call, signal) => {
        if (!(await latch.wait({ wait: call.wait, signal }))) return false
        this.#passed(call)
        if (this.served(call)) await this.works(call, step)
        return true
      })
    }
  }

  #passed({ id, name, since }: Asked): void {
    if ((this.#openAt.get(name) ?? -1) < since)
      this.verdict.violation('latch', `${id} passes '${name}', which has not been open since it asked`)
  }

  // ---- what the server does ------------------------------------------------------------------------------------------

  #left(name: string): number {
    return Number(this.scene.server.redis.execute(['GET', name]) ?? 0)
  }

  #counts(): ReadonlyMap<string, number> {
    return this.scene.server.machine.observe(() => new Map(this.scene.locks.map((name) => [name, this.#left(name)])))
  }

  executing(): void {
    this.#before = this.#counts()
  }

  executed(process: Party, { op, keys }: Flight): void {
    const after = this.#counts()
    for (const [name, left] of after) if (left === 0) this.#openAt.set(name, this.scene.world.now)
    if (op !== 'latch/count-down') return
    const [name = '', , note = ''] = keys
    const seen = this.#seen.get(process) ?? new Set()
    this.#seen.set(process, seen.add(note))
    const by = (this.#before.get(name) ?? 0) - (after.get(name) ?? 0)
    if (by === 0) return
    if (by !== 1 || this.#counted.has(note))
      this.verdict.violation('once', `a call of ${process.name} counts '${name}' down by ${by}, not for the first time`)
    this.#counted.add(note)
  }

  override wiped(): void {
    super.wiped()
    this.#counted.clear()
  }

  protected isPossible({ name }: Asked): boolean {
    return this.#left(name) === 0
  }

  protected checkServer(name: string): void {
    const left = this.#left(name)
    if (left < 0) this.verdict.violation('latch', `'${name}' is counted down to ${left}`)
    if (left === 0) this.#openAt.set(name, this.scene.world.now)
  }

  protected checkSettled(process: SimProcess): void {
    const told = this.scene.locks.reduce((sum, name) => sum + this.#told.of(process, name), 0)
    const seen = this.#seen.get(process)?.size ?? 0
    if (told > seen)
      this.verdict.violation('once', `${process.name} was told ${told} times that it counted, and did ${seen} times`)
  }
}
