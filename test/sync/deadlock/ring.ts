import type { Client, Deadlock, Lock } from 'holdfast'
import type { Town } from '../../support/town.js'

/** One unit of work: it holds some locks, and then waits for another. */
export interface Member {
  readonly holds: readonly Lock[]
  readonly wants: Lock
  /** ms after the others begin to wait. */
  readonly later?: number
  readonly wait?: number
}

export type Outcome = 'had' | Error | undefined

/** The outcomes of all, as far as they have one. */
export interface Ring {
  readonly outcomes: Outcome[]
  readonly ended: Promise<unknown>
}

const holding = (locks: readonly Lock[], work: () => Promise<void>): Promise<void> => {
  const [first, ...others] = locks
  return first === undefined ? work() : first.using(() => holding(others, work))
}

/** Each member acquires what it holds; then each waits for what it wants. */
export const startRing = async (town: Pick<Town, 'clock' | 'run'>, members: readonly Member[]): Promise<Ring> => {
  const outcomes: Outcome[] = members.map(() => undefined)
  let ready = 0
  let go: () => void = () => undefined
  const all = new Promise<void>((resolve) => (go = resolve))
  const run = async ({ holds, wants, later = 0, wait }: Member, i: number): Promise<void> => {
    try {
      await holding(holds, async () => {
        if (++ready === members.length) go()
        await all
        await new Promise<void>((resolve) => town.clock.setTimer(resolve, later))
        await wants.using({ wait }, () => undefined)
      })
      outcomes[i] = 'had'
    } catch (error) {
      outcomes[i] = error as Error
    }
  }
  const ended = Promise.all(members.map(run))
  await town.run(all)
  return { outcomes, ended }
}

/** What a client was told. */
export const toldTo = (client: Client): Deadlock[] => {
  const told: Deadlock[] = []
  client.on('deadlock', (deadlock) => told.push(deadlock))
  return told
}

export const namesIn = ({ cycle }: Deadlock): string[] => cycle.map(({ name }) => name).sort()
