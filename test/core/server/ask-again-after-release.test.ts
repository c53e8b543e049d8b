import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UnansweredReleases } from '#src/core/server/ask-again-after-release.js'

const unanswered = (): UnansweredReleases =>
  new UnansweredReleases(
    (step) => step,
    (error) => assert.fail(String(error)),
  )
const refused = (): Promise<undefined> => Promise.resolve(undefined)

void test('a refused try behind an unanswered release → ends at once when its signal aborts', async () => {
  const releases = unanswered()
  releases.add('a', new Promise(() => undefined))
  const stop = new AbortController()
  const tried = releases.ask('a', stop.signal, refused)
  const reason = new Error('enough')
  setImmediate(() => stop.abort(reason))
  await assert.rejects(tried, reason)
})

void test('a refused try → asks once more when all releases of its key are answered', async () => {
  const releases = unanswered()
  const answers: (() => void)[] = []
  for (const key of ['a', 'a', 'b']) releases.add(key, new Promise<void>((resolve) => answers.push(resolve)))
  let asked = 0
  const ask = (): Promise<string | undefined> => Promise.resolve(++asked === 2 ? 'granted' : undefined)
  const tried = releases.ask('a', new AbortController().signal, ask)
  answers[1]?.()
  await new Promise(setImmediate)
  assert.equal(asked, 1)
  answers[0]?.()
  assert.equal(await tried, 'granted')
})
