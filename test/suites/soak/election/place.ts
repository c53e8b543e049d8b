import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Proxy, startProxy } from '../../../support/proxy.js'
import { type RedisServer, startRedis } from '../../../support/redis-server.js'
import { machineNow, Signs, type TermSpan } from './signs.js'

const PROGRAM = fileURLToPath(new URL('./candidate.js', import.meta.url))
export const LEASE = 2000

/** What can end the term of a leader. Through a proxy: what becomes of its connection. */
export const ENDS = ['resign', 'SIGTERM', 'kill', 'stop', 'two killed', 'cut', 'silence'] as const
export type End = (typeof ENDS)[number]

interface Seat {
  readonly label: string
  readonly proxy: Proxy | undefined
  readonly child: ChildProcess
  /** This process has led, so its code is compiled. */
  led: boolean
}

/** How long nobody led. */
export interface Gap {
  readonly ms: number
  /** The process that leads now had led before. */
  readonly warm: boolean
}

/** Candidates in processes of their own, some of them behind a proxy, and what happens to the one that leads. */
export class Place {
  readonly signs: Signs
  readonly trips: number[] = []
  readonly #folder = mkdtempSync(join(tmpdir(), 'holdfast-election-'))
  readonly #server: RedisServer
  readonly #seats = new Map<string, Seat>()

  private constructor(server: RedisServer) {
    this.#server = server
    this.signs = new Signs(join(this.#folder, 'signs'))
  }

  /** So many candidates, and so many of them behind a proxy. */
  static async open(candidates: number, proxied: number): Promise<Place> {
    const place = new Place(await startRedis())
    for (let i = 0; i < candidates; i++) {
      const proxy = i < proxied ? await startProxy(place.#server.port) : undefined
      await place.#sit(`c${i}`, proxy)
    }
    return place
  }

  async close(): Promise<void> {
    for (const { child, proxy } of this.#seats.values()) {
      child.kill('SIGKILL')
      await proxy?.close()
    }
    await this.#server.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #sit(label: string, proxy: Proxy | undefined): Promise<void> {
    const url = proxy?.url ?? this.#server.url
    const args = [url, 'soak', label, String(LEASE), join(this.#folder, 'signs')]
    const child = fork(PROGRAM, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    this.#seats.set(label, { label, proxy, child, led: false })
    const [{ trip }] = (await once(child, 'message')) as [{ trip: number }]
    if (proxy === undefined) this.trips.push(trip)
  }

  /** The leader, once it has led for a while. */
  async leader(): Promise<readonly [bigint, TermSpan]> {
    for (const end = machineNow() + 30_000; machineNow() < end; await sleep(20)) {
      this.signs.look()
      const term = this.signs.newest
      const span = this.signs.terms.get(term)
      if (
        span !== undefined &&
        span.settled === undefined &&
        span.until - span.from > 300 &&
        machineNow() - span.until < 100
      )
        return [term, span]
    }
    throw new assert.AssertionError({ message: 'nobody leads for 30 s' })
  }

  /** Whether this can happen to the one that leads now. */
  async fits(end: End): Promise<boolean> {
    const [, { label }] = await this.leader()
    const proxied = this.#seats.get(label)?.proxy !== undefined
    return proxied === (end === 'cut' || end === 'silence')
  }

  /** Ends a term. `undefined`: the same term went on. */
  async ends(end: End): Promise<Gap | undefined> {
    const [term, { label }] = await this.leader()
    const seat = this.#seats.get(label) as Seat
    seat.led = true
    const victims = end === 'two killed' ? [seat, this.#other(seat)] : [seat]
    const at = machineNow()
    for (const victim of victims) this.#strike(victim, end)
    const next = await this.#next(term, end === 'cut' ? 1000 : 30_000)
    const warm = next !== undefined && this.#seats.get(next.label)?.led === true
    await this.#mend(victims, end)
    this.signs.look()
    if (next === undefined) return undefined
    const span = this.signs.terms.get(term)
    const since = end === 'resign' || end === 'SIGTERM' ? (span?.settled ?? at) : at
    return { ms: next.from - since, warm }
  }

  /** Kills one that waits: the dead must not hold anybody up. */
  #other(seat: Seat): Seat {
    return [...this.#seats.values()].find((other) => other !== seat && other.proxy === undefined) ?? seat
  }

  #strike({ child, proxy }: Seat, end: End): void {
    if (end === 'resign') child.send('resign')
    else if (end === 'SIGTERM') child.kill('SIGTERM')
    else if (end === 'kill' || end === 'two killed') child.kill('SIGKILL')
    else if (end === 'stop') child.kill('SIGSTOP')
    else if (end === 'cut') proxy?.cut()
    else if (proxy !== undefined) proxy.deaf = proxy.mute = true
  }

  async #next(term: bigint, limit: number): Promise<TermSpan | undefined> {
    for (const end = machineNow() + limit; machineNow() < end; await sleep(10)) {
      this.signs.look()
      const next = [...this.signs.terms].find(([other]) => other > term)
      if (next !== undefined) return next[1]
    }
    assert.ok(limit < 30_000, 'nobody leads for 30 s')
    return undefined
  }

  async #mend(seats: readonly Seat[], end: End): Promise<void> {
    if (end === 'stop') await sleep(300)
    for (const { label, child, proxy } of seats) {
      if (end === 'stop') child.kill('SIGCONT')
      if (end === 'silence' && proxy !== undefined) {
        proxy.deaf = proxy.mute = false
        proxy.cut()
      }
      if (end === 'SIGTERM' || end === 'kill' || end === 'two killed') await this.#sit(label, proxy)
    }
  }
}
