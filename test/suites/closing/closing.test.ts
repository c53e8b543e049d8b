import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { ClosedError } from 'holdfast'
import { times, watch } from '../contract/lock/kind.js'
import { type Stage, onStage } from '../../support/stage.js'

/** So many turns of the microtask queue lie between a grant and the caller, at least. */
const TURNS = 16

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await Promise.resolve()
}

/** Work that outlasts the client. */
const long = ({ clock }: Stage): Promise<void> => new Promise((resolve) => void clock.setTimer(resolve, 60_000))

/** What is granted at the moment in which the client closes belongs to nobody: it must be given back all the same. */
void describe('closed between the grant and the caller → what was granted is given back, and no work runs after', () => {
  /** The client closes so many turns after the server's answer to the next acquire. */
  const closeAfter = ({ client, driver, clock }: Stage, count: number): { readonly closing: () => Promise<void> } => {
    let closing: Promise<void> | undefined
    const send = driver.send.bind(driver)
    driver.send = (argv, options) => {
      const reply = send(argv, options)
      void reply.then(async () => {
        if (closing !== undefined) return
        await turns(count)
        closing = client.close()
      })
      return reply
    }
    return {
      closing: async () => {
        while (closing === undefined) await clock.advance(10)
        const closed = watch(closing)
        while (!closed.settled) await clock.advance(10)
      },
    }
  }

  for (const count of times(TURNS, (index) => index)) {
    onStage(
      `permits of a semaphore, ${count} turns after the answer`,
      async (stage) => {
        const { client, raw, run } = stage
        await run(client.semaphore('s').trySetPermits(2))
        const { closing } = closeAfter(stage, count)
        const used = client.semaphore('s').using({ permits: 2 }, () => long(stage))
        const ended = Promise.allSettled([used])
        await closing()
        assert.equal(raw('GET', 's'), '2')
        const [outcome] = await run(ended)
        assert.ok(outcome.status === 'rejected' && outcome.reason instanceof ClosedError, outcome.status)
      },
      ['s'],
    )

    onStage(
      `permits of a semaphore, passed on, ${count} turns after that`,
      async (stage) => {
        const { client, clock, raw, run } = stage
        const s = client.semaphore('s')
        await run(s.trySetPermits(1))
        let closing: Promise<void> | undefined
        const first = s.using(async () => {
          await new Promise<void>((resolve) => void clock.setTimer(resolve, 5))
          void turns(count).then(() => (closing = client.close()))
        })
        const second = s.using(() => long(stage))
        const ended = Promise.allSettled([first, second])
        await clock.advance(20)
        await run(closing ?? Promise.reject(new Error('not closed')))
        assert.equal(raw('GET', 's'), '1')
        await run(ended)
      },
      ['s'],
    )

    onStage(
      `a permit with an id, for ever, ${count} turns after the answer`,
      async (stage) => {
        const { client, raw, run } = stage
        await run(client.permitSemaphore('p').trySetPermits(2))
        const { closing } = closeAfter(stage, count)
        const ended = Promise.allSettled([client.permitSemaphore('p').acquire()])
        await closing()
        await run(ended)
        assert.deepEqual([raw('GET', 'p'), raw('ZCARD', '{p}:timeout')], ['2', 0])
      },
      ['p'],
    )
  }
})
