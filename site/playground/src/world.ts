import type { Report, ToProcess, ToServer, Weather } from './messages.js'

/** What a process did from one moment to another. */
export interface Span {
  readonly what: 'waiting' | 'holding' | 'paused' | 'dead'
  readonly from: number
  to: number | undefined
  /** The process released the lock, so another may have it from here. */
  handedOn?: boolean
}

export interface Line {
  readonly at: number
  readonly process: string
  readonly text: string
  readonly bad: boolean
}

/** One lane: what a process says of itself, and when it was killed. */
export class Lane {
  readonly name: string
  readonly spans: Span[] = []
  readonly worker: Worker
  alive = true
  readonly #waits = new Set<number>()
  readonly #holds = new Set<number>()

  constructor(name: string, worker: Worker) {
    this.name = name
    this.worker = worker
  }

  get state(): string {
    if (!this.alive) return 'killed'
    return this.spans.findLast(({ to }) => to === undefined)?.what ?? 'idle'
  }

  hear({ step, id = 0, hold = 0, outcome }: Report, now: number): void {
    if (step === 'wait') this.#waits.add(id)
    if (step === 'grant' || step === 'end') this.#waits.delete(id)
    if (step === 'grant') this.#holds.add(hold)
    if (step === 'release' || step === 'lost') this.#holds.delete(hold)
    this.#set('waiting', this.#waits.size > 0, now)
    const held = this.#set('holding', this.#holds.size > 0, now)
    if (held !== undefined) held.handedOn = outcome === 'released'
    if (step === 'resumed') this.#set('paused', false, now)
  }

  pause(now: number): void {
    this.#set('paused', true, now)
  }

  die(now: number): void {
    this.alive = false
    for (const span of this.spans) span.to ??= now
    this.#set('dead', true, now)
  }

  /** Returns the span that ends. */
  #set(what: Span['what'], is: boolean, now: number): Span | undefined {
    const open = this.spans.find((span) => span.what === what && span.to === undefined)
    if (is && open === undefined) this.spans.push({ what, from: now, to: undefined })
    if (this.spans.length > 400) this.spans.splice(0, 100)
    if (is || open === undefined) return undefined
    open.to = now
    return open
  }
}

const SAID: Partial<Record<Report['step'], string>> = {
  grant: 'acquired',
  release: 'released',
  lost: 'lost its hold',
  paused: 'is paused',
  resumed: 'resumed',
}
const BAD: readonly Report['step'][] = ['lost', 'refused', 'failed']
const MOST_LINES = 60
const LONGEST_TEXT = 200

/** The server and the processes, each a worker of its own. */
export class World {
  readonly lanes: Lane[] = []
  readonly log: Line[] = []
  readonly #library: Blob
  readonly #server: Worker
  readonly #changed: () => void
  readonly began = performance.now()

  constructor(library: Blob, weather: Weather, changed: () => void) {
    this.#library = library
    this.#changed = changed
    this.#server = this.#worker('')
    this.#server.onmessage = ({ data }: MessageEvent<Report>) => this.#note(data.process ?? '', data)
    this.weather(weather)
  }

  weather(weather: Weather): void {
    this.#server.postMessage({ weather } satisfies ToServer)
  }

  /** Only this runs the reader's code, in a worker. */
  start(name: string, code: string, lease: number): void {
    const worker = this.#worker(`\nglobalThis.main = async (client, { me, sleep, say, write }) => {\n${code}\n}`)
    const lane = new Lane(name, worker)
    const at = this.lanes.findIndex((one) => one.name === name)
    if (at < 0) this.lanes.push(lane)
    else {
      lane.spans.push(...(this.lanes[at] as Lane).spans)
      for (const span of lane.spans) span.to ??= performance.now()
      this.lanes[at] = lane
    }
    worker.onmessage = ({ data }: MessageEvent<Report>) => this.#hear(lane, data)
    worker.onerror = (event) => this.#note(name, { step: 'failed', text: event.message })
    const { port1, port2 } = new MessageChannel()
    this.#server.postMessage({ join: name, port: port1 } satisfies ToServer, [port1])
    worker.postMessage({ start: name, port: port2, lease } satisfies ToProcess, [port2])
  }

  /** No goodbye: as SIGKILL. */
  kill(lane: Lane): void {
    lane.worker.terminate()
    lane.die(performance.now())
    this.#server.postMessage({ gone: lane.name } satisfies ToServer)
    this.#note(lane.name, { step: 'failed', text: 'killed' })
  }

  pause(lane: Lane, ms: number): void {
    lane.worker.postMessage({ pause: ms } satisfies ToProcess)
    lane.pause(performance.now())
    this.#note(lane.name, { step: 'paused' })
  }

  end(): void {
    for (const { worker } of this.lanes) worker.terminate()
    this.#server.terminate()
  }

  #worker(code: string): Worker {
    const url = URL.createObjectURL(new Blob([this.#library, code], { type: 'text/javascript' }))
    const worker = new Worker(url)
    setTimeout(() => URL.revokeObjectURL(url), 10_000)
    return worker
  }

  #hear(lane: Lane, report: Report): void {
    // Code in a worker can post anything.
    if (!lane.alive || (report as Report | null)?.step === undefined || report.step === 'paused') return
    lane.hear(report, performance.now())
    this.#note(lane.name, report)
  }

  #note(process: string, { step, text, outcome }: Report): void {
    if (step === 'release' && outcome !== 'released') return
    const said = typeof text === 'string' ? text.slice(0, LONGEST_TEXT) : SAID[step]
    if (said === undefined) return
    const full = step === 'written' || step === 'refused' ? `${step}: ${said}` : said
    this.log.unshift({ at: performance.now() - this.began, process, text: full, bad: BAD.includes(step) })
    this.log.splice(MOST_LINES)
    this.#changed()
  }
}
