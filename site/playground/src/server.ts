import { systemClock } from '#src/base/clock.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { openMemoryServer } from '#src/engine/memory/registry.js'
import type { Reply } from '#src/lua/values.js'
import type { Answer, Question, Report, ToServer, Weather } from './messages.js'

const redis = () => openMemoryServer('network', systemClock)
/** It outlives its clients. */
redis()

const connections = new Map<string, Connection>()
let weather: Weather = { delay: 0, drop: 0 }

/** The storage that refuses late writers: it remembers the newest token. */
let newest = 0n

const report = (about: Report): void => postMessage(about)

const write = (process: string, token: bigint, text: string): Reply => {
  const shown = `${text.slice(0, 40)} with token ${token}`
  if (token < newest) {
    report({ step: 'refused', process, text: `${shown}: the storage has seen ${newest}` })
    throw new Error(`refused: token ${token} is older than ${newest}`)
  }
  newest = token
  report({ step: 'written', process, text: shown })
  return 'OK'
}

/** One direction of a socket: in order, and late. */
class Wire {
  #free = 0

  carry(step: () => void): void {
    const now = performance.now()
    this.#free = Math.max(this.#free, now + weather.delay)
    if (this.#free <= now + 0.5) step()
    else setTimeout(step, this.#free - now)
  }
}

class Connection {
  readonly #process: string
  readonly #port: MessagePort
  readonly #driver = new MemoryDriver(redis(), 'network')
  readonly #there = new Wire()
  readonly #back = new Wire()

  constructor(process: string, port: MessagePort) {
    this.#process = process
    this.#port = port
    port.onmessage = ({ data }: MessageEvent<Question>) => this.#there.carry(() => void this.#answer(data))
    const nothing = (): void => {}
    void this.#driver.open({
      message: (message) => {
        if (Math.random() >= weather.drop) this.#send({ message })
      },
      ...{
        up: nothing,
        down: nothing,
        moved: nothing,
        outOfStep: nothing,
        gap: nothing,
        unheard: nothing,
        error: nothing,
      },
    })
  }

  close(): void {
    void this.#driver.close()
    this.#port.close()
  }

  async #answer(question: Question): Promise<void> {
    const { id } = question
    try {
      this.#send({ id, reply: await this.#run(question) })
    } catch (error) {
      this.#send({ id, error: error instanceof Error ? error.message : String(error) })
    }
  }

  async #run(question: Question): Promise<Reply> {
    if ('argv' in question) return this.#driver.send(question.argv, { binary: question.binary })
    if ('write' in question) return write(this.#process, question.token, question.write)
    if ('subscribe' in question) await this.#driver.subscribe(question.subscribe, question.kind)
    else await this.#driver.unsubscribe(question.unsubscribe, question.kind)
    return null
  }

  #send(answer: Answer): void {
    this.#back.carry(() => this.#port.postMessage(answer))
  }
}

export const serve = (message: ToServer): void => {
  if ('weather' in message) weather = message.weather
  else if ('join' in message) connections.set(message.join, new Connection(message.join, message.port))
  else {
    connections.get(message.gone)?.close()
    connections.delete(message.gone)
  }
}
