import assert from 'node:assert/strict'
import { slotsClaim, slotsFinish, slotsLook } from '#src/lua/scripts.gen.js'
import type { SlotRun } from 'holdfast'
import { onStage, type Stage } from '../synchronizers/stage.js'

const KEYS = ['{o}:slot:x', '{o}:slots:token', '{o}:slots:last']

/** The server knows the scripts: what it is asked for, it does when it is asked. */
const warm = async ({ client, raw, run }: Stage): Promise<void> => {
  await run(client.slots('warm').run('x', () => 1))
  raw('DEL', '{warm}:slot:x', '{warm}:slots:token')
}

for (const loss of ['request', 'answer', 'late'] as const) {
  onStage(`the ${loss} of a claim is lost → asked again: it runs once, as its first attempt`, async (stage) => {
    await warm(stage)
    const { client, driver, run, raw } = stage
    const runs: SlotRun[] = []
    driver.loseNext(loss, slotsClaim.sha)
    const running = client.slots('o').run('x', { retry: 1 }, (it) => void runs.push(it))
    const result = await run(running)
    assert.equal(result.outcome, 'ran')
    assert.deepEqual([runs.length, runs[0]?.attempt], [1, 1])
    await driver.comeLate()
    const state = await run(client.slots('o').inspect('x'))
    assert.deepEqual([state?.state, state?.attempt], ['ran', 1])
    raw('DEL', ...KEYS)
  })

  onStage(`the ${loss} of the end of a run is lost → told again: it ran`, async (stage) => {
    await warm(stage)
    const { client, driver, run, raw } = stage
    driver.loseNext(loss, slotsFinish.sha)
    const result = await run(client.slots('o').run('x', () => 7))
    assert.ok(result.outcome === 'ran' && result.value === 7)
    assert.equal((await run(client.slots('o').inspect('x')))?.state, 'ran')
    raw('DEL', ...KEYS)
  })
}

onStage('nothing of a claim is answered → rejects, nothing has run, and another time it may', async (stage) => {
  await warm(stage)
  const { client, driver, clock, run, raw } = stage
  driver.loses = (words) => (words.some((word) => word.includes(slotsClaim.sha)) ? 'answer' : undefined)
  const running = client.slots('o').run('x', { lease: 5000 }, () => assert.fail())
  const failed = assert.rejects(running, { code: 'NO_REPLY' })
  await clock.advance(62_000)
  driver.loses = () => undefined
  await run(failed)
  await clock.advance(5000)
  assert.equal(await run(client.slots('o').inspect('x')), undefined)
  const again = await run(client.slots('o').run('x', () => 7))
  assert.equal(again.outcome, 'ran')
  raw('DEL', ...KEYS)
})

onStage(
  'what nobody answers is asked before anything is claimed → rejects, and no key is left',
  async ({ client, driver, run }) => {
    driver.loses = (words) => (words.some((word) => word.includes(slotsLook.sha)) ? 'request' : undefined)
    await run(
      assert.rejects(
        client.slots('o').run('x', () => assert.fail()),
        { code: 'NO_REPLY' },
      ),
    )
  },
)
