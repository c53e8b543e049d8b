import { Child } from './child.js'
import { mean, median, quantile } from './stats.js'

export const KEY = 'bench:relay'

/** µs of the machine's clock. */
export interface Turns {
  readonly had: number[]
  readonly freed: number[]
}

const FIRST = 20

/**
 * What a switch between processes costs at least: two processes hand a lock to and fro by the scripts alone. Both, and
 * the server, sleep until the hold is over. From just before the release until the other one has the lock.
 */
export const switchFloor = async (url: string, times: number): Promise<Record<string, number>> => {
  const pair = await Promise.all(['0', '1'].map((place) => Child.open('relay.js', [url, place, String(FIRST + times)])))
  try {
    const turns = (await Promise.all(pair.map((child) => child.ask('start')))) as Turns[]
    const [had, freed] = (['had', 'freed'] as const).map((key) =>
      turns
        .flatMap((one) => one[key])
        .sort((one, other) => one - other)
        .slice(2 * FIRST),
    ) as [number[], number[]]
    const switches = had.slice(1).map((at, turn) => (at - freed[turn]!) / 1000)
    const holds = freed.map((at, turn) => (at - had[turn]!) / 1000)
    const rate = (1e6 * switches.length) / (had.at(-1)! - had[0]!)
    const sorted = switches.sort((one, other) => one - other)
    return { rate, hold: mean(holds), switch: median(switches), switch99: quantile(sorted, 0.99) }
  } finally {
    await Promise.all(pair.map((child) => child.end()))
  }
}
