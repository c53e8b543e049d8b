import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { machineTime } from '../soak/log.js'
import type { Member } from '../../support/fair-party.js'
import { Party } from '../../support/fair-party.js'
import type { Proxy } from '../../support/proxy.js'
import type { Broken } from '../../support/server.js'
import { onServer } from '../../support/server.js'

const WATCHDOG = 1500
/** How long the server waits for somebody who was granted the lock to say so. */
const TRIAL = 3000
/** What comes to that: a poll, and a loaded machine. Still less than a trial. */
const SOON = 2000

interface Trouble {
  readonly what: string
  /** The server sees that it has gone. */
  readonly seen: boolean
  begin(victim: Member, proxy: Proxy): Promise<void> | void
  /** Undefined: it does not come back. */
  readonly end?: (victim: Member, proxy: Proxy) => void
}

const troubles: readonly Trouble[] = [
  { what: 'killed', seen: true, begin: (victim) => victim.kill() },
  {
    what: 'stopped',
    seen: false,
    begin: (victim) => victim.signal('SIGSTOP'),
    end: (victim) => victim.signal('SIGCONT'),
  },
  {
    what: 'cut off, all arrives later',
    seen: false,
    begin: (_, proxy) => void (proxy.held = 'everything'),
    end: (_, proxy) => void (proxy.held = 'nothing'),
  },
  {
    what: 'cut off, then connected anew',
    seen: false,
    begin: (_, proxy) => void (proxy.held = 'everything'),
    end: (_, proxy) => {
      proxy.cut()
      proxy.held = 'nothing'
    },
  },
]

/** A holder and three who wait, each a process; the victim is behind the proxy. */
const withLine = async (
  { server, proxy }: Broken,
  victim: number,
  body: (party: Party, members: readonly Member[], calls: readonly string[]) => Promise<void>,
): Promise<void> => {
  const party = new Party(server.url, 'orders')
  try {
    const members = await Promise.all(
      ['holder', 'head', 'middle', 'last'].map((name, index) =>
        party.invite(name, { watchdog: WATCHDOG, ...(index === victim ? { url: proxy.url } : {}) }),
      ),
    )
    const [holder, ...waiting] = members as [Member, ...Member[]]
    const calls = [await party.holds(holder)]
    for (const member of waiting) calls.push(await party.enqueue(member, true))
    await body(party, members, calls)
  } finally {
    proxy.held = 'nothing'
    await party.close()
  }
}

const took = (what: string, ms: number, most: number): void => {
  assert.ok(ms <= most, `${what} after ${ms.toFixed(0)} ms, at most ${most}`)
  console.log(`${what} after ${ms.toFixed(0)} ms, ${most} allowed`)
}

void describe('fair lock: one of the line in trouble', { concurrency: 2 }, () => {
  for (const { what, seen, begin, end } of troubles) {
    onServer(`the holder ${what} → the head has it when the lease is over; who comes back has lost it`, (broken) =>
      withLine(broken, 0, async (party, members, calls) => {
        const [victim, head, middle, last] = members as [Member, Member, Member, Member]
        const since = machineTime()
        await begin(victim, broken.proxy)
        took(`holder ${what}: the head`, (await party.granted(calls[1] ?? '')) - since, WATCHDOG + SOON)
        await sleep(300)
        if (end !== undefined) {
          end(victim, broken.proxy)
          party.troubled(victim.name, since, what)
          await party.until(() => party.of(calls[0] ?? '', 'lost') !== undefined)
        }
        for (const [index, member] of [head, middle, last].entries()) {
          await party.granted(calls[index + 1] ?? '')
          member.order({ release: calls[index + 1] ?? '' })
        }
        await party.until(() => party.of(calls[3] ?? '', 'released') !== undefined)
        await party.check()
      }),
    )

    for (const [place, name] of [
      [1, 'head'],
      [2, 'middle'],
    ] as const) {
      const outcome = end === undefined ? 'the next one has it' : 'the next one has it; who comes back is last'
      onServer(`the ${name} ${what} → ${outcome}`, (broken) =>
        withLine(broken, place, async (party, members, calls) => {
          const victim = members[place] as Member
          const [owner = ''] = (await party.line()).slice(place - 1)
          const began = machineTime()
          await begin(victim, broken.proxy)
          // So that the server has seen it go, where it can.
          await sleep(200)
          for (let index = 0; index < place; index += 1) {
            await party.granted(calls[index] ?? '')
            members[index]?.order({ release: calls[index] ?? '' })
          }
          await party.until(() => party.of(calls[place - 1] ?? '', 'released') !== undefined)
          const since = machineTime()
          const next = await party.granted(calls[place + 1] ?? '')
          took(`${name} ${what}: the next one`, next - since, seen ? SOON : TRIAL + SOON)
          if (end !== undefined) {
            // Who waits behind it has taken it out; where nobody does it keeps its place.
            if (place === 1) await party.until(async () => !(await party.line()).includes(owner), TRIAL)
            await sleep(500)
            end(victim, broken.proxy)
            party.troubled(victim.name, began, what)
            // By a new name, which nobody has been told.
            const client = owner.slice(0, 36)
            await party.until(async () => (await party.line()).at(-1)?.startsWith(client) === true, TRIAL + SOON)
            assert.equal(party.of(calls[place] ?? '', 'granted'), undefined, 'it begins on a grant that is over')
          }
          const rest = members.flatMap((member, index) =>
            index > place ? [[member, calls[index] ?? ''] as const] : [],
          )
          if (end !== undefined) rest.push([victim, calls[place] ?? ''])
          for (const [member, call] of rest) {
            await party.granted(call)
            member.order({ release: call })
            await party.until(() => party.of(call, 'released') !== undefined)
          }
          // Whoever comes next takes the dead out of the line.
          await sleep(Math.max(0, since + TRIAL + 100 - machineTime()))
          const later = party.acquire(members[3] as Member, false)
          await party.until(() => party.of(later, 'released') !== undefined)
          await party.check()
        }),
      )
    }
  }
})
