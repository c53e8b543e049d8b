import { Child } from '../processes/child.js'
import type { Relay, Turns } from '../processes/relay-plan.js'
import type { Figures } from '../base/result.js'
import { mean, median, quantile } from '../base/stats.js'

/** ms from giving it away to having it again, for who has so many in line: what their turns take, and nothing else. */
const waitsOf = ({ had, freed }: Turns, line: number): Figures => {
  const waits = had.slice(line).map((at, turn) => (at - freed[turn]!) / 1000)
  const sorted = waits.sort((one, other) => one - other)
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) }
}

/**
 * What a switch costs at least: some processes, or one and itself, hand a lock round by the scripts alone, or no more than
 * the word that it is the next one's turn. From just before it is given until the other one has it.
 * And how long one of so many in `line` would wait.
 */
export const switchFloor = async (url: string, times: number, relay: Relay, line?: number): Promise<Figures> => {
  const places = Array.from({ length: relay.processes }, (_, place) => String(place))
  const plan = JSON.stringify(relay)
  const { first = 20 } = relay
  const team = await Promise.all(
    places.map((place) => Child.open('relay.js', [url, place, String(first + times), plan])),
  )
  try {
    const turns = (await Promise.all(team.map((child) => child.ask('start')))) as Turns[]
    const [had, freed] = (['had', 'freed'] as const).map((key) =>
      turns
        .flatMap((one) => one[key])
        .sort((one, other) => one - other)
        .slice(relay.processes * first),
    ) as [number[], number[]]
    const switches = had.slice(1).map((at, turn) => (at - freed[turn]!) / 1000)
    const holds = freed.map((at, turn) => (at - had[turn]!) / 1000)
    const rate = (1e6 * switches.length) / (had.at(-1)! - had[0]!)
    const sorted = switches.sort((one, other) => one - other)
    const spread = { switch: median(switches), switch99: quantile(sorted, 0.99) }
    return { rate, hold: mean(holds), ...spread, ...(line !== undefined && waitsOf({ had, freed }, line)) }
  } finally {
    await Promise.all(team.map((child) => child.end()))
  }
}
