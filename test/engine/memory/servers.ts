import type { Redis } from 'ioredis'
import type { MemoryServer } from '#src/engine/memory/server.js'
import type { Argv } from './random-commands.js'
import { fromMemory, fromRedis, type Plain } from './replies.js'

export interface Answers {
  readonly memory: Plain
  readonly redis: Plain
}

const inBytes = (word: string): string | Buffer => (/^[\x20-\x7e]*$/.test(word) ? word : Buffer.from(word, 'latin1'))

/** The embedded server and a real one, asked the same. */
export class Servers {
  readonly #memory: MemoryServer
  readonly #redis: Redis

  constructor(memory: MemoryServer, redis: Redis) {
    this.#memory = memory
    this.#redis = redis
  }

  async ask(commands: readonly Argv[]): Promise<Answers[]> {
    const pipeline = this.#redis.pipeline()
    for (const [name = '', ...args] of commands) pipeline.callBuffer(name, ...args.map(inBytes))
    const replies = pipeline.exec()
    const memory = commands.map((argv) => fromMemory(this.#memory.execute(argv)))
    const real = (await replies) ?? []
    return memory.map((answer, i) => {
      const [error, reply] = real[i] ?? [new Error('no reply')]
      return { memory: answer, redis: fromRedis(error ?? reply) }
    })
  }

  async askOne(...argv: Argv): Promise<Answers> {
    const [answers] = await this.ask([argv])
    if (answers === undefined) throw new Error('no answer')
    return answers
  }
}
