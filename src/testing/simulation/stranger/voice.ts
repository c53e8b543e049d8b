import { type Bytes, toBytes, toText } from '../../../engine/memory/reply.js'
import type { Random } from '../../random.js'
import type { SimServer } from '../network.js'
import type { World } from '../world.js'
import { Forger } from './forger.js'

/** For how long it speaks, ms of the history, and how often at most. */
const SPEAKS = 2500
const OFTEN = 120

/**
 * A stranger who may publish and subscribe, and has no access to any key. It says again what it heard, changed or not, on
 * every channel where somebody listens, and guesses. Nothing of that may cost anybody more than a question.
 */
export class StrangersVoice {
  readonly #world: World
  readonly #random: Random
  readonly #server: SimServer
  readonly #note: (who: string, text: string) => void
  readonly #forger: Forger
  #speaking = false

  constructor(world: World, random: Random, server: SimServer, note: (who: string, text: string) => void) {
    this.#world = world
    this.#random = random
    this.#server = server
    this.#note = note
    this.#forger = new Forger(random, () => server.machine.observe(() => server.machine.now()))
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
    this.#forger.hear({ channel: toText(channel), payload: toText(payload) })
    // Right behind what it heard, before anybody else can.
    if (this.#random.chance(0.3)) this.#world.in(0, () => this.#server.machine.deliver(() => this.#speak()))
  }

  #speak(): void {
    const listened = this.#server.redis.execute(['PUBSUB', 'CHANNELS']) as unknown as Bytes[]
    if (listened.length === 0) return
    const { channel, payload } = this.#forger.next(listened.map((name) => toText(name)))
    this.#note('stranger', `says ${JSON.stringify(payload.slice(0, 60))} on ${channel}`)
    this.#speaking = true
    this.#server.redis.execute(['PUBLISH', channel, payload])
    this.#speaking = false
  }
}
