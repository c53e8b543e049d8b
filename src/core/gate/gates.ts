import { DeadlockError } from '../../errors.js'
import { mustShareSlot } from '../../keys.js'
import { ExclusiveGate } from './exclusive-gate.js'
import { excludeEachOther, type GateHome, type LockKind, type OpenGate } from './lock-kind.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { Runtime } from '../client/runtime.js'

/** The gates of one client that are in use: those of locks that a call here holds or waits for. */
export class Gates implements GateHome {
  readonly runtime: Runtime
  /** By key. If locks of several families use one key, by family as well. */
  readonly #gates = new Map<string, OpenGate | Map<string, OpenGate>>()

  constructor(runtime: Runtime) {
    this.runtime = runtime
  }

  at(kind: LockKind, name: string, key: string): OpenGate {
    let gate = this.#gateAt(key, kind.family)
    if (gate === undefined) {
      gate = kind.gate?.(this, name, key) ?? new ExclusiveGate(this, kind, name, key)
      if (this.runtime.link.cluster) mustShareSlot(gate.protocol)
      const there = this.#gates.get(key)
      if (there === undefined) this.#gates.set(key, gate)
      else if (there instanceof Map) there.set(kind.family, gate)
      else this.#gates.set(key, new Map([there, gate].map((one) => [one.kind.family, one])))
    }
    return gate
  }

  #gateAt(key: string, family: string): OpenGate | undefined {
    const there = this.#gates.get(key)
    if (there instanceof Map) return there.get(family)
    return there?.kind.family === family ? there : undefined
  }

  /** The gate is no longer used. */
  retired(gate: OpenGate): void {
    const { key } = gate.protocol
    const there = this.#gates.get(key)
    if (there === gate) this.#gates.delete(key)
    else if (there instanceof Map && there.get(gate.kind.family) === gate) {
      there.delete(gate.kind.family)
      if (there.size === 0) this.#gates.delete(key)
    }
  }

  /** The gates of other kinds on this key that exclude this kind, except the other side of the same lock. */
  beside(key: string, kind: LockKind): readonly OpenGate[] {
    return this.on(key).filter((gate) => excludeEachOther(gate.kind, kind))
  }

  /** The gates in use on this key. */
  on(key: string): readonly OpenGate[] {
    const there = this.#gates.get(key)
    if (there instanceof Map) return [...there.values()]
    return there === undefined ? [] : [there]
  }

  /** The error if this owner would wait for itself, because it holds the key already as another kind of lock. */
  inVain(key: string, kind: LockKind, name: string, owner: UnitOfWork): DeadlockError | undefined {
    const held = this.beside(key, kind).find((gate) => gate.tenureOf(owner) !== undefined)
    if (held === undefined) return undefined
    const { name: other } = held.kind
    return new DeadlockError(name, `its owner already holds it as another kind, ${other}`)
  }

  /** The gate of a lock that a call here holds or waits for. */
  inUse(kind: LockKind, key: string): OpenGate | undefined {
    return this.#gateAt(key, kind.family)
  }

  get all(): readonly OpenGate[] {
    return [...this.#gates.values()].flatMap((there) => (there instanceof Map ? [...there.values()] : [there]))
  }
}
