import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe } from 'node:test'
import { fileURLToPath } from 'node:url'
import { times } from '../../suites/contract/lock/kind.js'
import { redisEngine, scenarios } from '../../support/engines.js'

const PROGRAM = fileURLToPath(new URL('../../support/semaphore-process.js', import.meta.url))

const visitors = async (...words: string[]): Promise<{ most: number; visits: number }> => {
  const child = spawn(process.execPath, ['--unhandled-rejections=strict', PROGRAM, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number | null]>])
  assert.equal(code, 0)
  return JSON.parse(said) as { most: number; visits: number }
}

void describe('processes that share a semaphore', () => {
  const scenario = scenarios(redisEngine)

  scenario('two processes × 6 tasks × 40 rounds, 1 to 3 permits each → never more inside than permits', async (w) => {
    await w.raw('SET', w.id, 3)
    const both = await Promise.all(times(2, () => visitors(w.url, w.id, '3', '6', '40')))
    for (const { most, visits } of both) {
      assert.ok(most <= 3, `${most} inside`)
      assert.equal(visits, 240)
    }
    assert.equal(Math.max(...both.map(({ most }) => most)), 3, 'never full: it proves nothing')
    assert.equal(await w.raw('GET', 'inside'), '0')
    assert.equal(await w.raw('GET', w.id), '3')
    await w.raw('DEL', 'inside', w.id)
  })
})
