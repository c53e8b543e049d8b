import type { MemoryServer } from '../../engine/memory/server.js'
import type { Client } from '../../api/client.js'
import type { Flight } from './sent-command.js'
import type { Party } from './party.js'
import { COUNTED_LINE, PermitsLineOrder } from './permits-line-order.js'
import type { SimProcess } from './sim-process.js'
import type { Step } from './worker-program.js'
import { type Asked, Ledger, Tally } from './tally.js'

/** So many may be inside at a time. */
const PERMITS = 3

/** Before anybody comes. */
export const semaphoreMade = (redis: MemoryServer, name: string): void => {
  redis.execute(['SET', name, String(PERMITS)])
}

/**
 * Permits that nothing tells apart. Whatever a script adds to the count or takes from it goes to the account of the process that
 * sent it: nobody counts on more than its process has, and in the end each process has just what its workers count on.
 */
export class SemaphoreTally extends Tally {
  /** What each process has, by what its scripts did. */
  readonly #had = new Ledger()
  /** What its workers count on. */
  readonly #counted = new Ledger()
  /** What it may have given back, or taken, where nobody was told. */
  readonly #doubtful = new Ledger()
  #before: ReadonlyMap<string, number> = new Map()
  readonly #line = new PermitsLineOrder(this.scene, this.verdict, COUNTED_LINE)

  protected async perform(_worker: string, process: SimProcess, step: Step): Promise<void> {
    const { name, does } = step
    const semaphore = (process.client as Client).semaphore(name)
    if (does === 'inspect') await semaphore.available()
    else if (does === 'force') await this.#drain(process, step)
    else {
      const wish = { amount: this.#amountOf(step), wait: this.waitOf(step) }
      await this.asks(process, step, wish, async (call, signal) => {
        const options = { permits: call.amount, wait: call.wait, signal }
        if (does === 'hold' && step.end === 'using') {
          await semaphore.using(options, () => this.#inside(call, step))
          return true
        }
        const got = does === 'try' ? await semaphore.tryAcquire(options) : (await semaphore.acquire(options), true)
        if (!got) return false
        await this.#inside(call, step)
        if (process.closing === undefined) await this.#giveBack(process, name, call.amount, step)
        return true
      })
    }
  }

  #amountOf({ nested, nestedShared }: Step): number {
    return nested ? (nestedShared ? PERMITS : 2) : 1
  }

  /** With its permits, until they are given back: from then on nobody counts on them. */
  async #inside(call: Asked, step: Step): Promise<void> {
    if (!this.served(call)) return
    this.#counted.add(call.process, call.name, call.amount)
    await this.works(call, step)
    this.#counted.add(call.process, call.name, -call.amount)
  }

  async #giveBack(process: SimProcess, name: string, amount: number, { end }: Step): Promise<void> {
    const semaphore = (process.client as Client).semaphore(name)
    try {
      if (end === 'detach') await semaphore.releaseIfExists(amount)
      else await semaphore.release(amount)
    } catch (error) {
      this.#doubtful.add(process, name, amount)
      throw error
    }
  }

  /** All there are, for as long as the work takes. */
  async #drain(process: SimProcess, step: Step): Promise<void> {
    const { name } = step
    let amount
    try {
      amount = await (process.client as Client).semaphore(name).drain()
    } catch (error) {
      this.#doubtful.add(process, name, PERMITS)
      throw error
    }
    if (process.closing !== undefined) return
    this.#counted.add(process, name, amount)
    await process.sleep(step.work)
    this.#counted.add(process, name, -amount)
    if (process.living && amount > 0) await this.#giveBack(process, name, amount, step)
  }

  // ---- what the server does ------------------------------------------------------------------------------------------

  #free(name: string): number {
    return Number(this.scene.server.redis.execute(['GET', name])) + this.#line.granted(name)
  }

  #counts(): ReadonlyMap<string, number> {
    return this.scene.server.machine.observe(() => new Map(this.scene.locks.map((name) => [name, this.#free(name)])))
  }

  executing(): void {
    this.#before = this.#counts()
    this.#line.executing()
  }

  executed(process: Party, flight: Flight): void {
    this.#line.executed(flight)
    for (const [name, free] of this.#counts()) {
      const taken = (this.#before.get(name) ?? 0) - free
      if (taken !== 0) this.#had.add(process, name, taken)
    }
  }

  protected isPossible({ process, name, amount }: Asked): boolean {
    const first = this.#line.first(name)
    const mine = first === undefined || first.startsWith(String(process.client?.id))
    return mine && this.#free(name) - this.#line.granted(name) >= amount
  }

  protected checkServer(name: string): void {
    const free = this.#free(name)
    if (free < 0) this.verdict.violation('exclusion', `there are ${free} permits of '${name}'`)
    if (this.forgetful) return
    for (const process of this.scene.processes) {
      if (!process.living) continue
      const [had, counted] = [this.#had.of(process, name), this.#counted.of(process, name)]
      if (counted > had)
        this.verdict.violation('trust', `${process.name} counts on ${counted} permits of '${name}' and has ${had}`)
    }
  }

  protected checkSettled(process: SimProcess, name: string): void {
    const had = this.#had.of(process, name)
    const counted = this.#counted.of(process, name)
    if (had < counted || had > counted + this.#doubtful.of(process, name))
      this.verdict.violation('conserved', `${process.name} has ${had} permits of '${name}', its workers ${counted}`)
  }
}
