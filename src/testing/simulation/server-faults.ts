import type { Cast } from './cast.js'
import type { Family } from './family.js'
import type { MomentFault } from './faults.js'
import type { Watch } from './watch.js'
import type { World } from './world.js'

/** What befalls the server of a history: it stops, starts anew or loses its data, and others take locks on it. */
export class ServerFaults {
  readonly #world: World
  readonly #cast: Cast
  readonly #family: Family
  readonly #watch: Watch

  constructor(world: World, cast: Cast, family: Family, watch: Watch) {
    this.#world = world
    this.#cast = cast
    this.#family = family
    this.#watch = watch
  }

  /** What is there before anybody comes. */
  make(): void {
    const { server, locks } = this.#cast
    for (const name of locks) this.#family.kinds[0]?.make?.(server.redis, name)
  }

  strike(fault: MomentFault, ms: number): void {
    const { server, parties } = this.#cast
    const { machine, redis } = server
    if (fault === 'server stopped') machine.stop(ms)
    // One that stood still already does so for as much longer.
    const lasts = Math.max(ms, machine.time - this.#world.now)
    for (const party of parties) party.troubled('server stopped', lasts)
    if (fault === 'server stopped') return
    redis.scripts.flush()
    if (fault === 'server wiped') {
      this.#watch.wiped()
      redis.database.clear()
      this.make()
    }
    for (const { driver } of parties) {
      driver.cut()
      driver.cutMessages()
    }
  }

  /** Somebody outside takes the lock; `tell`: and publishes it. */
  take(name: string, tell: boolean): void {
    const { redis } = this.#cast.server
    // What another program had there goes as well.
    this.#watch.taken(name, false)
    const kind = this.#family.kinds[0]
    if (kind?.make === undefined) redis.execute(['DEL', name])
    else kind.make(redis, name)
    const channel = kind?.channel?.(name) ?? `redisson_lock__channel:{${name}}`
    if (tell) redis.execute(['PUBLISH', channel, '0'])
  }
}
