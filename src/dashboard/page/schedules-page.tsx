import type { ShownSchedule, ShownSlot } from '../page-messages.js'
import { count, shown, spanOf, timeOf } from './words.js'

const STATES: Readonly<Record<ShownSlot['state'], string>> = {
  due: 'due now',
  running: 'running',
  ran: 'ran',
  failed: 'failed',
  crashed: 'not finished',
  missed: 'missed',
  unclaimed: 'not run',
}

const detailOf = ({ state, who, took, began, attempt }: ShownSlot, now: number): string =>
  [
    STATES[state],
    ...(took === undefined ? [] : [`in ${spanOf(took)}`]),
    ...(state === 'running' && began !== undefined ? [`for ${spanOf(Math.max(0, now - began))}`] : []),
    ...(who === undefined ? [] : [`${state === 'running' ? 'on' : 'by'} ${shown(who)}`]),
    ...(attempt === undefined ? [] : [`at attempt ${attempt}`]),
  ].join(' ')

const Slot = ({ slot, now }: { slot: ShownSlot; now: number }) => (
  <li class={`slot ${slot.state}`}>
    <i aria-hidden="true" />
    <b>{timeOf(slot.due, now)}</b> <span class="quiet">{detailOf(slot, now)}</span>
  </li>
)

const Schedule = ({ schedule, now }: { schedule: ShownSchedule; now: number }) => {
  const { name, cron, timezone, next, slots, trouble } = schedule
  const missed = slots.filter(({ state }) => state === 'missed').length
  return (
    <section class="schedule">
      <h2>
        {shown(name)} {missed > 0 && <em class="tag odd">{missed} missed</em>}
      </h2>
      <p class="quiet">
        <code>{shown(cron)}</code> in {shown(timezone)}, shown in the time of this browser
        {next !== null && `, next ${next <= now ? 'now' : `in ${spanOf(next - now)}`}`}
      </p>
      {trouble !== undefined && <p class="trouble">Its slots cannot be read: {shown(trouble)}</p>}
      {slots.length > 0 && (
        <ol class="slots">
          {slots.map((slot) => (
            <Slot key={slot.due} {...{ slot, now }} />
          ))}
        </ol>
      )}
    </section>
  )
}

/** The newest slots of each schedule, and what became of them. */
export const SchedulesPage = ({ schedules, now }: { schedules: readonly ShownSchedule[]; now: number }) => (
  <>
    <h1>{count(schedules.length, 'schedule')}</h1>
    <div class="schedules">
      {schedules.map((schedule) => (
        <Schedule key={schedule.name} {...{ schedule, now }} />
      ))}
    </div>
  </>
)
