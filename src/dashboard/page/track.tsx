import { type Past, type Person, WINDOW } from '../page-messages.js'
import { hueOf, spanOf, whoIs } from './words.js'

/** ms: bars are placed from there, so that only their layer moves. */
export const Time = { base: 0 }

/** ms. Browsers do not place anything exactly that is millions of pixels away. */
const FAR = 3_600_000

/** Before each drawing. */
export const setBase = (now: number): void => {
  if (Math.abs(now - Time.base) > FAR) Time.base = now
}

const percent = (ms: number): string => `${((ms / WINDOW) * 100).toFixed(3)}%`

/** ms. The layer glides to where it will be at the next tick. */
export const TICK = 1000

interface BarProps {
  readonly from: number
  readonly until: number | undefined
  readonly now: number
  readonly name: string
  readonly title: string
  readonly look: string
}

/** A time span. One that has begun before the window has its name at the left edge, and the others at their beginning. */
const Bar = ({ from, until, now, name, title, look }: BarProps) => {
  const end = until ?? now + 2 * TICK
  const left = Math.max(from, now - 2 * WINDOW)
  return (
    <div class={`bar ${look}`} title={title} style={{ left: percent(left - Time.base), width: percent(end - left) }}>
      {from >= now - WINDOW && <span>{name}</span>}
    </div>
  )
}

/** Its bars move to the left as time goes by. */
export const Track = ({ now, children, edge }: { now: number; children: unknown; edge?: string | undefined }) => (
  <div class="track" aria-hidden="true">
    <div
      key={Time.base}
      class="moving"
      style={{ transform: `translateX(${percent(WINDOW + Time.base - now - TICK)})` }}
    >
      {children as never}
    </div>
    {edge !== undefined && <span class="edge">{edge}</span>}
  </div>
)

/** The name of what covers the left edge. */
export const edgeOf = (spans: readonly (Person | Past)[], now: number): string | undefined => {
  const at = now - WINDOW
  const over = spans.find((one) => one.since < at && (!('until' in one) || one.until > at + TICK * 4))
  return over && whoIs(over)
}

export const HoldBar = ({ hold, now, look }: { hold: Person; now: number; look: string }) => (
  <Bar
    {...{ from: hold.since, until: undefined, now, name: whoIs(hold) }}
    title={`${whoIs(hold)}, for ${spanOf(Math.max(0, now - hold.since))}`}
    look={`hold hue${hueOf(hold.client)} ${look}`}
  />
)

export const PastBar = ({ past, now }: { past: Past; now: number }) => (
  <Bar
    {...{ from: past.since, until: past.until, now, name: whoIs(past) }}
    title={`${whoIs(past)}, held for ${spanOf(past.until - past.since)}`}
    look={`past hue${hueOf(past.client)}`}
  />
)

export const WaitBar = ({ wait, now }: { wait: Person; now: number }) => (
  <Bar
    {...{ from: wait.since, until: undefined, now, name: '' }}
    title={`${whoIs(wait)} waits`}
    look={`wait hue${hueOf(wait.client)}`}
  />
)
