import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Participant } from '../participants/participant.js'
import type { Load, Sample, Slot } from './load.js'

const WORKER = fileURLToPath(new URL('worker.js', import.meta.url))
/** Beyond the slot itself, for whoever is late to start or to end. */
const PATIENCE = 30_000

/** The processes of one participant: their own, so that nobody's heap, compiled code or CPU is another's. */
export class Crew {
  readonly #processes: readonly ChildProcess[]
  readonly #complaints: string[] = []

  private constructor(participant: Participant, url: string, load: Load) {
    this.#processes = Array.from({ length: load.processes }, (_, index) => {
      const child = fork(WORKER, [participant.name, url, JSON.stringify(load), String(index)], {
        serialization: 'advanced',
        stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
      })
      child.stderr?.on('data', (text: Buffer) => this.#complaints.push(text.toString()))
      return child
    })
  }

  static async open(participant: Participant, url: string, load: Load): Promise<Crew> {
    const crew = new Crew(participant, url, load)
    await Promise.all(crew.#processes.map((child) => crew.#answer(child, PATIENCE)))
    return crew
  }

  /** Whether the lock of one client is closed to another one. */
  async probe(): Promise<boolean> {
    const first = this.#processes[0]!
    first.send('probe')
    return (await this.#answer(first, PATIENCE)) as boolean
  }

  work(slot: Slot): Promise<Sample[]> {
    const limit = (slot.warm + slot.seconds) * 1000 + PATIENCE
    return Promise.all(
      this.#processes.map((child) => {
        child.send(slot)
        return this.#answer(child, limit) as Promise<Sample>
      }),
    )
  }

  async end(): Promise<void> {
    await Promise.all(
      this.#processes.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return
        const timer = setTimeout(() => child.kill('SIGKILL'), 5000)
        if (child.connected) child.send('end')
        await once(child, 'exit')
        clearTimeout(timer)
      }),
    )
  }

  async #answer(child: ChildProcess, limit: number): Promise<unknown> {
    const stop = new AbortController()
    const { signal } = stop
    const timer = setTimeout(() => stop.abort(new Error('does not come to an end')), limit)
    try {
      const answer = once(child, 'message', { signal }).then(([message]: unknown[]) => message)
      const exit = once(child, 'exit', { signal }).then(() => {
        throw new Error(`ended: ${this.#lastComplaint()}`)
      })
      return await Promise.race([answer, exit])
    } catch (error) {
      throw stop.signal.aborted ? stop.signal.reason : error
    } finally {
      clearTimeout(timer)
      stop.abort()
    }
  }

  #lastComplaint(): string {
    const lines = this.#complaints.join('').split('\n')
    return lines.find((line) => /^[A-Z]\w*Error\b/.test(line)) ?? lines[0] ?? ''
  }
}
