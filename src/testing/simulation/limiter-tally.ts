import type { Client } from '../../api/client.js'
import type { MemoryServer } from '../../engine/memory/server.js'
import { limiterPermits, limiterValue } from '../../keys.js'
import type { Flight } from './sent-command.js'
import type { Party } from './party.js'
import type { SimProcess } from './sim-process.js'
import type { Step } from './worker-program.js'
import { RateLineOrder } from './rate-line-order.js'
import { type Asked, Ledger, Tally } from './tally.js'
import type { Arg, Reply } from '../../lua/values.js'

const RATE = { permits: 3, interval: 400 }

/** Before anybody comes. */
export const limiterMade = (redis: MemoryServer, name: string): void => {
  redis.execute(['DEL', limiterValue(name), limiterPermits(name)])
  redis.execute(['HSET', name, 'rate', String(RATE.permits), 'interval', String(RATE.interval), 'type', '0'])
}

interface Grant {
  readonly name: string
  readonly amount: number
  /** By the server's clock. */
  readonly at: number
  /** The limiter was made anew since. */
  forgotten: boolean
}

const amountOf = (call: Arg): number => Buffer.from(call as Uint8Array).readUInt32LE((call as Uint8Array).length - 4)

/**
 * A rate: no window of its interval, wherever it begins, holds more than the rate of what was granted and not given up; and
 * each process was granted just what its callers were told.
 */
export class LimiterTally extends Tally {
  /** Grants that nobody has given up, by their bytes, and whose they are. */
  readonly #grants = new Map<Party, Map<string, Grant>>()
  readonly #told = new Ledger()
  readonly #line = new RateLineOrder(this.scene, this.verdict)

  protected async perform(_worker: string, process: SimProcess, step: Step): Promise<void> {
    const { name, does } = step
    const limiter = (process.client as Client).rateLimiter(name)
    if (does === 'inspect') this.#within(await limiter.available(), name)
    else if (does === 'force')
      await (step.shared ? limiter.updateRate({ ...RATE, keepState: true }) : limiter.trySetRate(RATE))
    else {
      const wish = { amount: step.nested ? 2 : 1, wait: this.waitOf(step) }
      await this.asks(process, step, wish, async (call, signal) => {
        const options = { permits: call.amount, wait: call.wait, signal }
        if (does === 'try') {
          const { allowed, remaining } = await limiter.tryAcquire(options)
          this.#within(remaining, name)
          if (!allowed) return false
        } else await limiter.acquire(options)
        this.#told.add(process, name, call.amount)
        if (this.served(call)) await this.works(call, step)
        return true
      })
    }
  }

  #within(permits: number, name: string): void {
    if (permits < 0 || permits > RATE.permits)
      this.verdict.violation('rate', `${permits} are said to be left of '${name}'`)
  }

  // ---- what the server does ------------------------------------------------------------------------------------------

  get #now(): number {
    const { machine } = this.scene.server
    return machine.observe(() => machine.now())
  }

  executing(): void {
    this.#line.executing()
  }

  executed(process: Party, flight: Flight, reply: Reply | Error): void {
    this.#line.executed(flight, reply)
    const { op, keys, args } = flight
    const [name = ''] = keys
    const grants = this.#grants.get(process) ?? new Map<string, Grant>()
    this.#grants.set(process, grants)
    const idOf = (call: Arg): string => Buffer.from(call as Uint8Array).toString('hex')
    if (op === 'rate-limiter/undo') for (const call of args.slice(3)) grants.delete(idOf(call))
    const first = { 'rate-limiter/take': 0, 'rate-limiter/ask': 6 }[op]
    if (first === undefined || reply instanceof Error) return
    const at = this.#now
    for (const call of args.slice(first, first + Math.max(0, Number((reply as Reply[])[0])))) {
      const known = grants.get(idOf(call))
      if (known === undefined) grants.set(idOf(call), { name, amount: amountOf(call), at, forgotten: false })
    }
    const used = this.#usedAt(name, at)
    if (used > RATE.permits)
      this.verdict.violation('rate', `${used} of '${name}' are granted within ${RATE.interval} ms`)
  }

  #usedAt(name: string, now: number): number {
    let used = 0
    for (const grants of this.#grants.values())
      for (const grant of grants.values())
        if (grant.name === name && !grant.forgotten && grant.at > now - RATE.interval) used += grant.amount
    return used
  }

  override taken(name: string): void {
    for (const grants of this.#grants.values())
      for (const grant of grants.values()) if (grant.name === name) grant.forgotten = true
  }

  override wiped(): void {
    super.wiped()
    for (const name of this.scene.locks) this.taken(name)
  }

  protected isPossible({ process, name, amount }: Asked): boolean {
    const enough = this.#usedAt(name, this.#now) + amount <= RATE.permits
    return enough && this.#line.isNext(name, String(process.client?.id))
  }

  /** What is left and what is granted make the rate together: Redisson counts on both. */
  protected checkServer(name: string): void {
    const { redis } = this.scene.server
    const value = redis.execute(['GET', limiterValue(name)])
    if (value === null) return
    const grants = redis.execute(['ZRANGE', limiterPermits(name), '0', '-1']) as string[]
    const granted = grants.reduce((sum, call) => sum + amountOf(Buffer.from(call, 'latin1')), 0)
    if (Number(value) + granted !== RATE.permits)
      this.verdict.violation('rate', `${Number(value)} of '${name}' are left, and ${granted} granted`)
  }

  protected checkSettled(process: SimProcess, name: string): void {
    const told = this.#told.of(process, name)
    let granted = 0
    for (const grant of this.#grants.get(process)?.values() ?? []) if (grant.name === name) granted += grant.amount
    if (granted !== told)
      this.verdict.violation('conserved', `${process.name} was granted ${granted} of '${name}', and told of ${told}`)
  }
}
