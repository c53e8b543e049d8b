import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { Settings } from '../config/settings.js'
import type { ThreadSettings } from '../config/watchdog-option.js'
import type {
  ThreadEvents,
  ThreadLevel,
  ThreadNews,
  ThreadOpener,
  ThreadPort,
} from '../core/hold/renewal-thread-handle.js'
import type { Endpoint, FullTlsOptions } from '../engine/endpoint.js'
import { ConfigError, EngineError } from '../errors.js'
import { quoted } from '../plain-text.js'
import { errorOf, textOf } from '../thrown.js'
import { ticks } from './ticks.js'

/** What the thread gets when it starts. */
export interface ThreadData {
  readonly endpoint: Endpoint
  readonly tls: Omit<FullTlsOptions, 'checkServerIdentity'>
  /** The certificate of the server may have any name. */
  readonly anyName: boolean
  readonly connectTimeout: number
  readonly commandTimeout: number
  readonly lease: number
  readonly maxBlocked: number
  readonly alive: SharedArrayBuffer
}

/** What the thread says. */
export interface ThreadMessage {
  readonly level: ThreadLevel
  readonly text: string
}

/** Starts the thread when it is first needed. Throws at once if its file is missing. */
export const threadOf = (settings: Settings, thread: ThreadSettings): ThreadOpener => {
  const file = fileOf(thread.file)
  return { ticks, open: (alive, events) => new WorkerPort(file, { ...dataOf(settings, thread), alive }, events) }
}

const dataOf = (settings: Settings, { maxBlocked }: ThreadSettings): Omit<ThreadData, 'alive'> => {
  const { place, connectTimeout, commandTimeout, watchdog: lease } = settings
  if (place.engine !== 'redis') throw new ConfigError('watchdog.thread needs a server')
  const { checkServerIdentity, ...tls } = settings.tls
  const anyName = checkServerIdentity !== undefined
  return { endpoint: place.endpoint, tls, anyName, connectTimeout, commandTimeout, lease, maxBlocked }
}

const MISSING =
  'If your program is bundled, build holdfast/renewal-thread as a file of its own beside the bundle, or pass its URL: watchdog: { thread: new URL(…) }'

const fileOf = (given: URL | undefined): URL => {
  if (given !== undefined && given.protocol !== 'file:')
    throw new ConfigError(`watchdog.thread must be a file: URL, not ${quoted(given.protocol)}`)
  const base = import.meta.url as string | undefined
  if (given === undefined && base === undefined)
    throw new ConfigError(`watchdog.thread: its file cannot be found. ${MISSING}`)
  // Beside the bundle of a program; or where this package has it, whichever file this module is part of.
  const places = given === undefined ? ['./renewal-thread.js', '../thread/renewal-thread.js'] : [given]
  const files = places.map((place) => new URL(place, base))
  const found = files.find((one) => existsSync(fileURLToPath(one)))
  if (found !== undefined) return found
  const [file = new URL('./', base)] = files
  throw new ConfigError(`watchdog.thread: there is no file ${quoted(fileURLToPath(file))}. ${MISSING}`)
}

/** Flags of this process, such as a loader for TypeScript, are not needed there. Little memory for short-lived objects is enough. */
const FRUGAL = { execArgv: [], name: 'holdfast renewals', resourceLimits: { maxYoungGenerationSizeMb: 1 } }

class WorkerPort implements ThreadPort {
  readonly #worker: Worker
  #ending = false

  constructor(file: URL, data: ThreadData, { told, ended }: ThreadEvents) {
    this.#worker = new Worker(file, { workerData: data, ...FRUGAL })
    let why: Error | undefined
    this.#worker.on('message', ({ level, text }: ThreadMessage) => told(level, text))
    this.#worker.on('error', (thrown: unknown) => (why = errorOf(thrown)))
    this.#worker.once('exit', (code) => {
      if (this.#ending) return
      const because = why === undefined ? `with code ${code}` : textOf(why)
      const message = `the thread that renews locks while the event loop is blocked has ended: ${because}`
      ended(new EngineError('OFFLINE', message, { cause: why }))
    })
    this.#worker.unref()
  }

  post(news: ThreadNews): void {
    this.#worker.postMessage(news)
  }

  end(): Promise<unknown> {
    this.#ending = true
    return this.#worker.terminate()
  }
}
