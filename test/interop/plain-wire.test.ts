import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PLAIN } from './support/actors.js'
import { arena } from './support/arena.js'
import { lockChannel } from './support/names.js'
import { stepsOf } from './support/programs.js'
import { NEWEST } from './support/redisson.js'
import { monitored } from './support/spy.js'

const READS = ['exists', 'hexists', 'pttl', 'hget', 'hgetall', 'get']
const LATCH = /^redisson_unlock_latch:\{wire\}:[0-9a-f]{32}$/

void describe(`what the server is asked, beside Redisson ${NEWEST}`, () => {
  const enter = arena(NEWEST)

  for (const side of ['java', 'node'] as const) {
    void test(`${side} → one message for each time that it is freed, and no key but the lock’s`, async (t) => {
      const here = enter(t)
      if (here === undefined) return
      const actor = side === 'java' ? PLAIN.java(here.java) : await PLAIN.node(here.url)
      try {
        const seen = await monitored(here.redis, async () => {
          for (const step of stepsOf('lock; lock; unlock; unlock; unlock; lock 5000; forceUnlock; forceUnlock; unlock'))
            await actor.run('wire', step.split(' ')[0] ?? '', step.split(' ').slice(1).map(Number))
        })
        const commands = seen.filter(({ source }) => source === 'lua').map(({ words }) => words)
        const messages = commands.filter(([name]) => name === 'publish').map((words) => words.slice(1).join(' '))
        assert.deepEqual(messages, [`${lockChannel('wire')} 0`, `${lockChannel('wire')} 0`])
        const written = commands.filter(([name = '']) => name !== 'publish' && !READS.includes(name))
        assert.ok(written.length > 4)
        for (const [name, key = ''] of written)
          assert.ok(key === 'wire' || (side === 'java' && LATCH.test(key)), `${name} ${key}`)
      } finally {
        if (side === 'node') await actor.close()
      }
    })
  }
})
