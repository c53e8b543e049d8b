import { Child } from '../processes/child.js'
import type { DistantMessage } from '../processes/distant.js'
import type { Bench } from './bench.js'
import { ServerMeter } from './server-meter.js'

/** The same server, with `ms` more for each round trip. */
export const atDistance = async <T>(bench: Bench, ms: number, work: (far: Bench) => Promise<T>): Promise<T> => {
  const { redis } = bench.server!
  const distant = await Child.open('distant.js', [String(redis.port), String(ms)])
  const ask = (message: DistantMessage): Promise<number> => distant.ask(message) as Promise<number>
  const url = `redis://127.0.0.1:${await ask('port')}`
  const meter = new ServerMeter(url)
  try {
    return await work({ ...bench, server: { redis: { ...redis, url }, meter, turns: () => ask('turns') } })
  } finally {
    meter.end()
    await distant.end()
  }
}
