import type { Flight } from './sent-command.js'
import type { World } from './world.js'

/** What happened, a line each, where somebody wants to read it. */
export class Timeline {
  readonly lines: string[] = []
  readonly #world: World
  readonly #kept: boolean

  constructor(world: World, kept: boolean) {
    this.#world = world
    this.#kept = kept
  }

  readonly note = (who: string, text: string): void => {
    if (this.#kept) this.lines.push(`${this.#world.now.toFixed(3).padStart(11)}  ${who.padEnd(6)}  ${text}`)
  }

  sent(who: string, flight: Flight): void {
    if (this.#kept) this.note(who, `→ ${show(flight)}`)
  }

  executed(who: string, flight: Flight, reply: unknown): void {
    if (this.#kept) this.note('server', `${who}: ${show(flight)} = ${String(reply).split('\r')[0] ?? ''}`)
  }
}

const show = ({ op, args }: Flight): string => {
  const words = args.map((arg) => (typeof arg === 'string' && arg.length > 20 ? `…${arg.slice(-6)}` : String(arg)))
  return `${op} ${words.join(' ')}`.slice(0, 120)
}
