import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { EngineError } from 'holdfast'
import { semaphoreAcquire, semaphoreRetract } from '#src/lua/scripts.gen.js'
import { rejection, watch } from '../contract/lock/kind.js'
import { redisEngine, scenarios } from '../engines.js'

/** A user of the server who may not do all that a script does, and finds out in the middle of it. */
void describe('a script that may not do all its steps', () => {
  const scenario = scenarios(redisEngine)

  scenario('taking permits is forbidden → none are taken, and none given back in their stead', async (w) => {
    const s = (await w.connect()).semaphore(w.id)
    await s.trySetPermits(3)
    await w.raw('ACL', 'SETUSER', 'default', '-decrby')
    const error = await rejection(s.acquire({ permits: 2 }))
    await w.raw('ACL', 'SETUSER', 'default', '+@all')
    assert.ok(error instanceof EngineError && error.code === 'NOPERM', String(error))
    await w.pass(200)
    assert.equal(await w.raw('GET', w.id), '3')
    await s.acquire({ permits: 3 })
    const notes = (await w.raw('KEYS', 'holdfast_request:*')) as string[]
    for (const note of notes) await w.raw('DEL', note)
    await w.raw('DEL', w.id)
  })

  scenario('taking permits is forbidden, and nobody hears of that → who gives up gives none back', async (w) => {
    const [channel, note, saved] = [
      `redisson_sc:{${w.id}}`,
      `holdfast_request:{${w.id}}`,
      `holdfast_reserved:{${w.id}}`,
    ]
    await w.raw('SET', w.id, 3)
    await w.raw('ACL', 'SETUSER', 'default', '-decrby')
    const keys = [w.id, note, saved, channel]
    await rejection(w.raw('EVAL', semaphoreAcquire.text, 4, ...keys, 'client', 0, 'PUBLISH', 2))
    await w.raw('ACL', 'SETUSER', 'default', '+@all')
    assert.equal(await w.raw('EVAL', semaphoreRetract.text, 3, w.id, channel, note, 'PUBLISH'), 0)
    assert.equal(await w.raw('GET', w.id), '3')
    await w.raw('DEL', w.id, note)
  })

  scenario('what was saved up may not be deleted → it is had all the same, and lapses', async (w) => {
    const s = (await w.connect()).semaphore(w.id)
    await s.trySetPermits(1)
    const had = watch(s.acquire({ permits: 2 }))
    await w.eventually(async () => (await w.raw('EXISTS', `holdfast_reserved:{${w.id}}`)) === 1)
    await w.raw('ACL', 'SETUSER', 'default', '-del')
    await s.release()
    await w.run(had.promise)
    await w.raw('ACL', 'SETUSER', 'default', '+@all')
    assert.equal(await w.raw('GET', w.id), '0')
    await w.eventually(async () => (await w.raw('EXISTS', `holdfast_reserved:{${w.id}}`)) === 0)
    await w.raw('DEL', w.id)
  })
})
