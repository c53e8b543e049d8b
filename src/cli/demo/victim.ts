import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Connect } from './workers.js'

/** The worker that crashes: it acquires the lock and disappears without a word. */
export interface Victim {
  take(signal: AbortSignal): Promise<void>
  crash(): Promise<void>
  /** For a show that ends before the crash. */
  end(): Promise<void>
}

export interface Job {
  readonly url: string
  readonly watchdog: number
  readonly label: string
  readonly lock: string
}

/** A client of its own in this process, abandoned: no other process can reach the embedded engine. */
const abandoned = (connect: Connect, { lock, ...options }: Job): Victim => {
  const client = connect(options)
  client.catch(() => undefined)
  return {
    take: async (signal) => {
      await (await client).lock(lock).acquire({ signal })
    },
    crash: async () => (await client).close({ release: false }),
    end: async () => (await client).close(),
  }
}

/** A process of its own, killed. */
const killed = (job: Job): Victim => {
  // The address is sent as a message. It may contain a password, and other users can read arguments and environments.
  const child = fork(fileURLToPath(import.meta.resolve('#src/cli/demo/doomed.js')), [], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const kill = (): void => {
    child.kill('SIGKILL')
  }
  process.once('exit', kill)
  const gone = once(child, 'exit')
  const ended = gone.then((): never => {
    throw new Error('the process that should crash ended before it acquired the lock')
  })
  ended.catch(() => undefined)
  const end = async (): Promise<void> => {
    kill()
    await gone.catch(() => undefined)
    process.off('exit', kill)
  }
  return {
    take: async (signal) => {
      signal.addEventListener('abort', kill, { once: true })
      child.send(job)
      await Promise.race([once(child, 'message'), ended])
    },
    crash: end,
    end,
  }
}

export const victim = (connect: Connect, job: Job): Victim =>
  job.url.startsWith('memory:') ? abandoned(connect, job) : killed(job)
