import process, { nextTick } from 'node:process'
import type { IoredisClient } from './client-type.js'

/** How many commands one write takes. */
const TOGETHER = 16
/** Longer ones are not joined: what waits for a slow server may come to more than the longest string. */
const LONGEST_TEXT = 1_048_576

type Stream = NonNullable<IoredisClient['stream']>

/** What a stream that is corked passes to its `_writev`, and the two methods that a stream implements. */
interface Chunk {
  readonly chunk: unknown
  readonly encoding: string
}
interface Sink {
  _write(chunk: unknown, encoding: string, done: () => void): void
  _writev?(chunks: readonly Chunk[], done: () => void): void
}

/** Texts that leave together leave as one text: Node converts each one by itself otherwise, which takes as long as the rest of a command. */
const joinTexts = (stream: Stream): void => {
  const sink = stream as unknown as Sink
  const writev = sink._writev?.bind(sink)
  if (writev === undefined) return
  sink._writev = (chunks, done) => {
    let text = ''
    for (const { chunk, encoding } of chunks) {
      if (typeof chunk !== 'string' || encoding !== 'utf8' || text.length > LONGEST_TEXT) return writev(chunks, done)
      text += chunk
    }
    sink._write(text, 'utf8', done)
  }
}

/** Those with commands that have not left yet, if the process ends in this very tick. */
const held = new Set<WriteBatches>()
let watchesExit = false

const sendAtExit = (batches: WriteBatches): void => {
  held.add(batches)
  if (watchesExit) return
  watchesExit = true
  process.once('exit', () => {
    for (const one of held) one.flush()
  })
}

const ofSockets = new WeakMap<Stream, WriteBatches>()

/**
 * Commands of one tick leave together, but not so many that the server is idle meanwhile. After a tick with several, the
 * first one of the next tick waits for the others, too: a write costs more than all else of a command.
 */
export class WriteBatches {
  readonly #stream: Stream
  #joined = 0
  #several = false

  constructor(stream: Stream) {
    this.#stream = stream
    joinTexts(stream)
    sendAtExit(this)
    stream.once('close', () => held.delete(this))
  }

  /** Those of `stream`, which are these unless the connection was replaced. */
  static of(stream: Stream, last: WriteBatches | undefined): WriteBatches {
    return last !== undefined && last.#stream === stream ? last : WriteBatches.on(stream)
  }

  static on(stream: Stream): WriteBatches {
    const known = ofSockets.get(stream)
    if (known !== undefined) return known
    const batches = new WriteBatches(stream)
    ofSockets.set(stream, batches)
    return batches
  }

  /** Must be called before each command that is written. */
  join(): void {
    /** How many have left by themselves before the others are held back. */
    const alone = this.#several ? 0 : 1
    if (this.#joined === 0) nextTick(() => this.#end(alone))
    if (this.#joined === alone) this.#stream.cork()
    else if (this.#joined > 0 && this.#joined % TOGETHER === 0) {
      this.#stream.uncork()
      this.#stream.cork()
    }
    this.#joined++
  }

  /** A socket takes what fits at once, even while the process ends. */
  flush(): void {
    if (this.#joined > 0) this.#stream.uncork()
  }

  #end(alone: number): void {
    if (this.#joined > alone) this.#stream.uncork()
    this.#several = this.#joined > 1
    this.#joined = 0
  }
}
