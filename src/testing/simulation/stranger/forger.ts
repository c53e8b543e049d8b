import type { Random } from '../../random.js'

/** What it remembers of what others said. */
const REMEMBERS = 200

export interface Said {
  readonly channel: string
  readonly payload: string
}

const NOISE = ['', '0', '1', '-1', 'NaN', '2147483647', '99999999999999999999', '1e15', ' ', '+', '\0\xff\xfe', 'soon']

/** Makes up messages for every channel: what it has heard before, changed or not, and guesses. */
export class Forger {
  readonly #random: Random
  readonly #now: () => number
  readonly #heard: Said[] = []

  constructor(random: Random, now: () => number) {
    this.#random = random
    this.#now = now
  }

  hear(said: Said): void {
    this.#heard.push(said)
    if (this.#heard.length > REMEMBERS) this.#heard.shift()
  }

  /** One for one of these channels, on which somebody listens, or for one from which it has heard something. */
  next(channels: readonly string[]): Said {
    const random = this.#random
    const grants = channels.filter((name) => name.includes('grant:'))
    const channel = random.pick(grants.length > 0 && random.chance(0.7) ? grants : channels)
    const old = this.#heard.length === 0 ? undefined : random.pick([...this.#heard.slice(-3), random.pick(this.#heard)])
    if (old === undefined || random.chance(0.6)) return { channel, payload: this.#guess(channels) }
    return { channel: random.chance(0.8) ? old.channel : channel, payload: this.#changed(old.payload) }
  }

  get #stamp(): string {
    return String((this.#now() + this.#random.pick([0, 0, 0, -1, 1, 40, 5000, -2000])) * 1000)
  }

  /** A grant of somebody here, or no grant of any form that there ever was. */
  #guess(channels: readonly string[]): string {
    const random = this.#random
    const number = 1 + random.below(8)
    // Such as there are, but for the proof.
    if (random.chance(0.6)) return `${number} ${this.#stamp} 0123456789abcdef`
    if (random.chance(0.3)) return random.pick(NOISE)
    const [client = ''] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(random.pick(channels)) ?? []
    const owner = random.pick([`${client}:${number}`, String(number), String(number), `${client}:123456789${number}`])
    const called = channels.map((channel) => /[0-9a-f-]{36}:\d+$/.exec(channel)?.[0]).find((name) => name !== undefined)
    const more = random.pick(['', ' 1 2 3', ' 2 +', ' +'])
    const proof = random.pick(['', ' 0123456789abcdef', ` ${'f'.repeat(16)}`])
    return `${random.chance(0.2) ? (called ?? owner) : owner} ${this.#stamp}${more}${proof}`
  }

  #changed(payload: string): string {
    const random = this.#random
    switch (random.below(6)) {
      case 0:
        return payload.slice(0, random.below(payload.length + 1))
      case 1:
        return payload.replace(/\d{16}/, this.#stamp)
      case 2:
        // As if the next ones had been granted it.
        return payload
          .replace(/^\d+/, (number) => String(Number(number) + 1 + random.below(4)))
          .replace(/\d{16}/, this.#stamp)
      case 3: {
        const place = random.below(payload.length + 1)
        return payload.slice(0, place) + String.fromCharCode(random.below(256)) + payload.slice(place + 1)
      }
      case 4:
        return random.chance(0.1) ? payload.padEnd(100_000, ' 1') : `${payload} 1 2 +`
      default:
        return payload
    }
  }
}
