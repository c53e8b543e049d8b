import { connect, DeadlockError, type Deadlocks } from 'holdfast'

/** Holds one lock, waits for another, and says what came of it: `deadlock-process URL LABEL MODE HOLDS WANTS`. Begins to wait when it hears a line. */
const [url = '', label = '', deadlocks = '', holds = '', wants = ''] = process.argv.slice(2)
const client = await connect({ url, label, deadlocks: deadlocks as Deadlocks })
const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`)
client.on('deadlock', ({ cycle, victim }) =>
  say({ told: cycle.map((call) => call.name).sort(), victim: victim === undefined ? null : cycle[victim]?.label }),
)
try {
  await client.lock(holds).using(async () => {
    say('holds')
    await new Promise((resolve) => process.stdin.once('data', resolve))
    const since = performance.now()
    await client.lock(wants).using({ wait: 20_000 }, () => say({ had: Math.round(performance.now() - since) }))
  })
} catch (error) {
  say({ error: error instanceof DeadlockError ? error.cycle?.map((call) => call.label).sort() : String(error) })
}
await client.close()
process.stdin.destroy()
