import { type Bytes, toBytes, toText } from '../../../engine/memory/reply.js'
import type { Random } from '../../random.js'
import type { SimServer } from '../network.js'
import type { World } from '../world.js'

/** For how long it speaks, ms of the history, and how often at most. */
const SPEAKS = 2500
const OFTEN = 120
/** What it remembers of what others said. */
const REMEMBERS = 200

interface Said {
  readonly channel: string
  readonly payload: string
}

const NOISE = ['', '0', '1', '-1', 'NaN', '2147483647', '99999999999999999999', '1e15', ' ', '+', '\0\xff\xfe', 'soon']

/**
 * A stranger who may publish and subscribe, and has no access to any key. It says again what it heard, changed or not, on
 * every channel where somebody listens, and guesses. Nothing of that may cost anybody more than a question.
 */
export class StrangersVoice {
  readonly #world: World
  readonly #random: Random
  readonly #server: SimServer
  readonly #note: (who: string, text: string) => void
  readonly #heard: Said[] = []
  #speaking = false

  constructor(world: World, random: Random, server: SimServer, note: (who: string, text: string) => void) {
    this.#world = world
    this.#random = random
    this.#server = server
    this.#note = note
  }

  begin(): void {
    const random = this.#random
    // Only some subscribe: whoever does counts among those who hear a message.
    if (random.chance(0.6)) {
      const message = (channel: Bytes, payload: Bytes): void => this.#hear(channel, payload)
      this.#server.redis.pubsub.subscribe({ message }, toBytes('*'), 'pattern')
    }
    const often = random.between(5, OFTEN)
    for (let i = 0; i < often; i++) {
      this.#world.at(random.between(0, SPEAKS), () => {
        this.#server.machine.deliver(() => this.#speak())
      })
    }
  }

  #hear(channel: Bytes, payload: Bytes): void {
    if (this.#speaking) return
    this.#heard.push({ channel: toText(channel), payload: toText(payload) })
    if (this.#heard.length > REMEMBERS) this.#heard.shift()
    // Right behind what it heard, before anybody else can.
    if (this.#random.chance(0.3)) this.#world.in(0, () => this.#server.machine.deliver(() => this.#speak()))
  }

  #speak(): void {
    const random = this.#random
    const listened = this.#server.redis.execute(['PUBSUB', 'CHANNELS']) as unknown as Bytes[]
    const channels = listened.map((channel) => toText(channel))
    if (channels.length === 0) return
    const grants = channels.filter((name) => name.includes('grant:'))
    const channel = random.pick(grants.length > 0 && random.chance(0.7) ? grants : channels)
    const old = this.#heard.length === 0 ? undefined : random.pick([...this.#heard.slice(-3), random.pick(this.#heard)])
    const [where, payload] =
      old === undefined || random.chance(0.6)
        ? [channel, this.#guess(channels)]
        : [random.chance(0.8) ? old.channel : channel, this.#changed(old.payload)]
    this.#note('stranger', `says ${JSON.stringify(payload.slice(0, 60))} on ${where}`)
    this.#speaking = true
    this.#server.redis.execute(['PUBLISH', where, payload])
    this.#speaking = false
  }

  get #stamp(): string {
    const ms = this.#server.machine.observe(() => this.#server.machine.now())
    return String((ms + this.#random.pick([0, 0, 0, -1, 1, 40, 5000, -2000])) * 1000)
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
