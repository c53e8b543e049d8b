import { connect } from '#src/connect.js'
import type { DiagnosticMessage } from '#src/api/diagnostics.js'
import type { Report, ToProcess } from './messages.js'
import { join } from './open-driver.js'
import { hear } from './platform.js'

const report = (about: Report): void => postMessage(about)

for (const step of ['wait', 'grant', 'end', 'release', 'lost'] as const)
  hear(`holdfast:${step}`, (message) => {
    const { id, hold, outcome } = message as DiagnosticMessage
    report({ step, id, hold, outcome })
  })

/** What the code of a process sees, beside `client`. */
const tools = (driver: ReturnType<typeof join>, me: string) => ({
  me,
  sleep: (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms)),
  say: (text: unknown): void => report({ step: 'say', text: String(text).slice(0, 200) }),
  /** Writes to a storage that refuses a token older than the newest that it has seen. */
  write: (token: bigint | number, text: unknown) => driver.ask({ write: String(text), token: BigInt(token) }),
})

const start = async (me: string, port: MessagePort, lease: number): Promise<void> => {
  const driver = join(port)
  const client = await connect({ url: 'memory:', watchdog: lease, label: me })
  const run = (globalThis as { main?: (...args: unknown[]) => Promise<void> }).main
  await run?.(client, tools(driver, me))
}

/** Nothing of this thread runs meanwhile: no timer, no renewal, no message. */
const stop = (ms: number): void => {
  report({ step: 'paused' })
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true })
  Atomics.wait(new Int32Array(memory.buffer), 0, 0, ms)
  report({ step: 'resumed' })
}

export const work = (message: ToProcess): void => {
  if ('pause' in message) {
    stop(message.pause)
    return
  }
  start(message.start, message.port, message.lease).catch((error: unknown) =>
    report({ step: 'failed', text: error instanceof Error ? `${error.name}: ${error.message}` : String(error) }),
  )
}
