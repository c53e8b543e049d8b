import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ClientOptions } from 'holdfast'
import type { Times } from './java-process.js'
import type { Order, Report } from './node-program.js'
import { type Redisson, type RedissonOptions, startRedisson } from './redisson.js'

/** A process, of either side, that takes a fair lock under any number of threads, and can be killed and stopped. */
export interface LockProcess {
  readonly side: 'java' | 'node'
  /** What its owners begin with on the wire. */
  readonly id: string
  lock(name: string, thread: number, lease?: number): Promise<Times>
  unlock(name: string, thread: number): Promise<Times>
  stop(): void
  cont(): void
  kill(): Promise<void>
}

const timesOf = async (answer: Promise<unknown> & { times(): Promise<Times> }): Promise<Times> => {
  await answer
  return answer.times()
}

export const javaProcess = (redisson: Redisson): LockProcess => ({
  side: 'java',
  id: redisson.id,
  lock: (name, thread, lease) => timesOf(redisson.fair(name).lock(thread, lease)),
  unlock: (name, thread) => timesOf(redisson.fair(name).unlock(thread)),
  stop: () => redisson.stop(),
  cont: () => redisson.cont(),
  kill: () => redisson.kill(),
})

export const startJava = async (options: RedissonOptions): Promise<LockProcess> =>
  javaProcess(await startRedisson(options))

const PROGRAM = fileURLToPath(new URL('node-program.js', import.meta.url))

class NodeProcess implements LockProcess {
  readonly side = 'node'
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  readonly #pending = new Map<number, { resolve(times: Times): void; reject(error: Error): void }>()
  #orders = 0

  constructor(
    child: ChildProcess,
    readonly id: string,
  ) {
    this.#child = child
    const kill = (): void => void child.kill('SIGKILL')
    process.once('exit', kill)
    this.#ended = once(child, 'exit').then(() => {
      process.off('exit', kill)
      for (const { reject } of this.#pending.values()) reject(new Error('the process has ended'))
    })
    child.on('message', ({ id: order, start, end, error }: Report) => {
      const pending = this.#pending.get(order)
      this.#pending.delete(order)
      if (error === undefined) pending?.resolve({ start, end })
      else pending?.reject(new Error(error))
    })
  }

  #order(order: Omit<Order, 'id'>): Promise<Times> {
    const id = (this.#orders += 1)
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
      this.#child.send({ id, ...order })
    })
  }

  lock(name: string, thread: number, lease?: number): Promise<Times> {
    return this.#order({ op: 'lock', name, thread, lease })
  }

  unlock(name: string, thread: number): Promise<Times> {
    return this.#order({ op: 'unlock', name, thread })
  }

  stop(): void {
    this.#child.kill('SIGSTOP')
  }

  cont(): void {
    this.#child.kill('SIGCONT')
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }
}

export const startNode = async (url: string, options: ClientOptions = {}): Promise<LockProcess> => {
  const child = fork(PROGRAM, [url, JSON.stringify(options)])
  const [{ ready }] = (await once(child, 'message')) as [{ ready: string }]
  return new NodeProcess(child, ready)
}
