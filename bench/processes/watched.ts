/** One client with callers that do nothing else, and who watches it changes from turn to turn: `watched.js URL CALLERS`. */
import { setTimeout } from 'node:timers/promises'
import { connect } from 'holdfast'
import { WATCHES, type Watching } from './watches.js'

/** ms of each turn that do not count: a change of subscribers makes V8 compile again what looks for them. */
const WARM = 500

const [url = '', callers = ''] = process.argv.slice(2)
const client = await connect(url)
let watching: Watching | undefined
let pairs = 0
let goesOn = true

const call = async (name: string): Promise<void> => {
  const lock = client.lock(name)
  while (goesOn) {
    const hold = await lock.acquire()
    await hold.release()
    pairs += 1
    watching?.pair?.()
  }
}
const calls = Array.from({ length: Number(callers) }, (_, i) => call(`watched ${i}`))

/** What one turn measures: pairs a second, and the CPU of each, µs. */
const turn = async (watch: string, ms: number): Promise<{ rate: number; clientCpu: number }> => {
  watching = WATCHES[watch]?.()
  await setTimeout(WARM)
  const [before, cpu, since] = [pairs, process.cpuUsage(), performance.now()]
  await setTimeout(ms)
  const { user, system } = process.cpuUsage(cpu)
  const seconds = (performance.now() - since) / 1000
  const done = pairs - before
  const watched = watching
  watching = undefined
  // What it leaves behind must not be paid for by the next turn.
  await watched?.end()
  return { rate: done / seconds, clientCpu: (user + system) / done }
}

const end = async (): Promise<void> => {
  goesOn = false
  await Promise.all(calls)
  await client.close()
  process.disconnect()
}

process.on('message', (message: 'end' | { watch: string; ms: number }) => {
  void (message === 'end' ? end() : turn(message.watch, message.ms).then((figures) => process.send?.(figures)))
})
process.once('disconnect', () => process.exit())
process.send?.('ready')
