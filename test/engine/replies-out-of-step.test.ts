import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, EngineError } from 'holdfast'
import { type Broken, onServer } from '../support/server.js'

const NIL = '$-1\r\n'

/** Answers that nobody waits for: of each kind, and such as no server sends. */
const STRAY = [
  NIL,
  '*-1\r\n',
  '*0\r\n',
  '+OK\r\n',
  ':1\r\n',
  '$1\r\na\r\n',
  '-ERR no\r\n',
  '_\r\n',
  '>1\r\n$-1\r\n',
  '>0\r\n',
]

/** The first reply that is nil comes so many times. */
const repeatNil = ({ proxy }: Broken, times: number): void => {
  proxy.reshape = (reply) => {
    const text = reply.toString('latin1')
    if (!text.includes(NIL)) return reply
    proxy.reshape = undefined
    return Buffer.from(text.replace(NIL, NIL.repeat(times)), 'latin1')
  }
}

const works = (broken: Broken, client: Client): Promise<void> =>
  broken.until(() =>
    client
      .lock('works')
      .using(() => true)
      .catch(() => false),
  )

void describe('answers that belong to no question', { concurrency: 4 }, () => {
  for (const stray of STRAY) {
    onServer(`${JSON.stringify(stray)} on every connection → replaced, and everything goes on`, async (broken) => {
      const client = await broken.open({ watchdog: 3000, commandTimeout: 1000 })
      const other = await broken.open({ url: broken.server.url })
      const errors: Error[] = []
      client.on('error', (error) => errors.push(error))
      const held = await client.lock('held').acquire()
      const theirs = await other.lock('theirs').acquire()
      // It may be what the stray answer is taken for.
      const waiting = client
        .lock('theirs')
        .acquire({ wait: 20_000 })
        .then(
          (hold) => hold.release(),
          (error: unknown) => error instanceof EngineError,
        )
      const channel = `holdfast_line_grant:{theirs}:${client.id}`
      await broken.until(async () => Number((await broken.redis.pubsub('NUMSUB', channel))[1]) === 1)
      for (let round = 0; round < 3; round += 1) {
        broken.proxy.inject(stray)
        await sleep(50)
      }
      await broken.until(() => held.state === 'held', 8000)
      await works(broken, client)
      assert.equal(await held.release(), true)
      assert.equal(await theirs.release(), true)
      assert.equal(await waiting, true)
      await broken.until(async () => (await broken.redis.exists('theirs')) === 0)
      assert.ok(errors.every((error) => error instanceof Error))
    })
  }

  onServer('an answer that comes twice gives a lock that another holds → lost at once', async (broken) => {
    const [one, other] = [await broken.open({ watchdog: 6000 }), await broken.open({ watchdog: 6000 })]
    one.on('error', () => undefined)
    const theirs = await other.lock('y').acquire()
    await works(broken, one)
    repeatNil(broken, 2)
    const calls = [one.lock('x').acquire({ wait: 100 }), one.lock('y').tryAcquire()].map((call) =>
      call.catch(() => undefined),
    )
    const [, wrong] = await Promise.all(calls)
    if (wrong !== undefined) await broken.until(() => wrong.state !== 'held', 1000)
    if (wrong !== undefined) await broken.until(() => wrong.state === 'lost', 3000)
    assert.equal(theirs.state, 'held')
    assert.equal(await theirs.release(), true)
    await works(broken, one)
  })

  onServer(
    'an answer is lost, and the next one is taken for it → lost soon after the last command is overdue',
    async (broken) => {
      const [one, other] = [await broken.open({ commandTimeout: 1000 }), await broken.open({})]
      one.on('error', () => undefined)
      const theirs = await other.lock('y').acquire()
      await works(broken, one)
      broken.proxy.reshape = (reply) => {
        const text = reply.toString('latin1')
        if (!text.startsWith(':')) return reply
        broken.proxy.reshape = undefined
        // The first is gone, and what follows comes.
        return Buffer.from(text.slice(text.indexOf('\r\n') + 2), 'latin1')
      }
      const wrong = one.lock('y').tryAcquire()
      const mine = one.lock('x').acquire()
      mine.catch(() => undefined)
      const taken = await wrong.catch(() => undefined)
      assert.ok(taken !== undefined, 'nothing can tell yet')
      await broken.until(() => taken.state !== 'held', 2000)
      await broken.until(() => taken.state === 'lost', 2000)
      assert.equal(theirs.state, 'held')
      assert.equal(await theirs.release(), true)
      await works(broken, one)
    },
  )

  onServer('the length of an answer that never comes → replaced, though bytes arrive', async (broken) => {
    const client = await broken.open({ commandTimeout: 1000 })
    client.on('error', () => undefined)
    await works(broken, client)
    broken.proxy.inject('$2000000000\r\nabc')
    const answered = (): Promise<boolean> =>
      client
        .lock('a')
        .isLocked()
        .then(
          () => true,
          () => false,
        )
    await broken.until(answered, 8000)
    await works(broken, client)
  })
})
