import type { Rate } from '../page-messages.js'
import { count } from './words.js'

const [WIDTH, HEIGHT] = [180, 30]

interface LineProps {
  readonly values: readonly (number | null)[]
  readonly name: string
  readonly now: string
}

/** Bars, so that a gap is a gap: nobody looked then. */
const pathOf = (values: LineProps['values']): string => {
  const most = Math.max(1, ...values.map((value) => value ?? 0))
  const step = WIDTH / values.length
  return values
    .map((value, i) => {
      if (value === null || value === 0) return ''
      const high = Math.max(1.5, (value / most) * HEIGHT)
      return `M${(i * step).toFixed(1)} ${HEIGHT}v${(-high).toFixed(1)}h${(step - 0.6).toFixed(1)}V${HEIGHT}z`
    })
    .join('')
}

const Line = ({ values, name, now }: LineProps) => (
  <figure class="rate">
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} role="img" aria-label={`${name}: ${now}`}>
      <path d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} class="floor" />
      <path d={pathOf(values)} />
    </svg>
    <figcaption>
      {name} <b>{now}</b>
    </figcaption>
  </figure>
)

/** Steps of five seconds. */
const MINUTE = 12

/** What was seen in the last five minutes. */
export const Rates = ({ rates }: { rates: readonly (Rate | null)[] }) => {
  const handOvers = rates.map((rate) => rate?.[0] ?? null)
  const waiters = rates.map((rate) => rate?.[1] ?? null)
  const last = handOvers.slice(-MINUTE).reduce<number>((sum, one) => sum + (one ?? 0), 0)
  const most = Math.max(0, ...waiters.map((one) => one ?? 0))
  return (
    <div class="rates">
      <Line
        values={handOvers}
        name="Holds that ended, 5 minutes"
        now={`${last.toLocaleString('en')} in the last minute`}
      />
      <Line values={waiters} name="Callers waiting, 5 minutes" now={`${count(most, 'caller')} at most`} />
    </div>
  )
}
