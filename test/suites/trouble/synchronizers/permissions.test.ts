import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { EngineError } from 'holdfast'
import { semaphoreAsk, semaphoreUndo } from '#src/lua/scripts.gen.js'
import { rejection } from '../../contract/lock/kind.js'
import { redisEngine, scenarios } from '../../../support/engines.js'

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

  scenario('it may not be asked who listens → those who wait are served in turn all the same', async (w) => {
    const clients = await Promise.all([1, 2, 3, 4].map(() => w.connect()))
    await clients[0]!.semaphore(w.id).trySetPermits(1)
    await w.raw('ACL', 'SETUSER', 'default', '-pubsub')
    const visits = clients.map(() => 0)
    const until = performance.now() + 2500
    const caller = async (place: number): Promise<void> => {
      const s = clients[place]!.semaphore(w.id)
      while (performance.now() < until) {
        await s.acquire()
        visits[place]! += 1
        await w.pass(10)
        await s.release()
      }
    }
    await Promise.all(clients.map((_, place) => caller(place)))
    await w.raw('ACL', 'SETUSER', 'default', '+@all')
    assert.ok(Math.min(...visits) >= 0.5 * Math.max(...visits), visits.join())
    assert.equal(await w.raw('GET', w.id), '1')
    await w.raw('DEL', w.id, `holdfast_permits_turn:{${w.id}}`)
  })

  scenario('taking permits is forbidden, and nobody hears of that → who gives up gives none back', async (w) => {
    const note = `holdfast_request:{${w.id}}`
    const line = ['line', 'due', 'wanted', 'turn'].map((key) => `holdfast_permits_${key}:{${w.id}}`)
    const voices = [`redisson_sc:{${w.id}}`, `holdfast_permits_grant:{${w.id}}`, 'PUBLISH']
    await w.raw('SET', w.id, 3)
    await w.raw('ACL', 'SETUSER', 'default', '-decrby')
    const keys = [w.id, note, ...line]
    await rejection(w.raw('EVAL', semaphoreAsk.text, 6, ...keys, 'owner', 0, 0, 0, ...voices, 2))
    await w.raw('ACL', 'SETUSER', 'default', '+@all')
    assert.equal(await w.raw('EVAL', semaphoreUndo.text, 6, ...keys, 'client', 0, ...voices), 0)
    assert.equal(await w.raw('GET', w.id), '3')
    await w.raw('DEL', w.id, note)
  })
})
