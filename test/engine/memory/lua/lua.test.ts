import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Redis } from 'ioredis'
import { startRedis } from '../../../support/redis-server.js'
import { seeded } from '../../../support/random.js'
import { errorsSnippets } from './errors-snippets.js'
import { formatsSnippets } from './formats-snippets.js'
import { languageSnippets } from './language-snippets.js'
import { ProgramWriter } from './programs.js'
import { replySnippets } from './reply-snippets.js'
import { shownFromServer } from './replies.js'
import { ScriptBench } from './small-server.js'
import { stringsSnippets } from './strings-snippets.js'
import { tablesSnippets } from './tables-snippets.js'
import type { RedisServer } from '../../../support/redis-server.js'

/*
 * Differences that stay:
 *   the sign of a NaN        JavaScript has one NaN; the server prints the processor's own as -nan, others as nan
 *   addresses                tostring of a table, function or thread, and pairs() over tables that are keys
 *   string.dump              there is no bytecode; it always raises "unable to dump given function"
 *   memory                   collectgarbage and gcinfo count nothing; what a JavaScript string cannot hold is an error
 */

const groups = {
  language: languageSnippets,
  errors: errorsSnippets,
  strings: stringsSnippets,
  tables: tablesSnippets,
  formats: formatsSnippets,
  replies: replySnippets,
}

const PROGRAMS = 4000
const BATCH = 200

/** What can be compared: no NaN's sign, no address, and of an error only what the client does not lose in decoding it. */
const comparable = (reply: string): string => {
  const same = reply.replaceAll(/-*(?:nan|NAN)/g, 'nan').replaceAll(/\b(function|table|thread): 0x[0-9a-f]+/g, '$1')
  return same.startsWith('-')
    ? Buffer.from(same, 'latin1')
        .toString('utf8')
        .replaceAll(/[^\x20-\x7e]+/g, '?')
    : same
}

describe('Lua in process', () => {
  for (const [name, snippets] of Object.entries(groups)) {
    it(`answers as Redis does: ${name}`, () => {
      const bench = new ScriptBench()
      for (const [script, reply] of snippets) assert.equal(bench.run(script), reply, script)
    })
  }

  it('keeps nothing of one script for the next', () => {
    const bench = new ScriptBench()
    assert.match(bench.run('x = 1'), /readonly table/)
    assert.match(bench.run('return x'), /nonexistent global variable 'x'/)
  })
})

describe('Lua in process and on a real server', () => {
  let server: RedisServer | undefined
  let redis: Redis | undefined

  before(async () => {
    try {
      server = await startRedis()
    } catch (error) {
      const missing = (error as { code?: string }).code === 'NO_REDIS'
      if (!missing || (process.env['HOLDFAST_REQUIRE'] ?? '').includes('redis')) throw error
      return
    }
    redis = new Redis(server.port, { maxRetriesPerRequest: 1 })
    await redis.set('s', '1')
  })

  after(async () => {
    redis?.disconnect()
    await server?.stop()
  })

  const real = async (client: Redis, script: string): Promise<string> => {
    const reply = await client.callBuffer('EVAL', Buffer.from(script, 'latin1'), '0').catch((error: unknown) => error)
    return shownFromServer(reply)
  }

  it('the snippets', async (context) => {
    if (!redis) return context.skip('no redis')
    for (const [script, reply] of Object.values(groups).flat()) {
      await redis.flushall()
      await redis.set('s', '1')
      assert.equal(await real(redis, script), reply, script)
    }
  })

  const compare = async (client: Redis, seed: number): Promise<void> => {
    const writer = new ProgramWriter(seeded(seed))
    const bench = new ScriptBench()
    for (let done = 0; done < PROGRAMS; done += BATCH) {
      const scripts = Array.from({ length: BATCH }, () => writer.program())
      const expected = await Promise.all(scripts.map((script) => real(client, script)))
      scripts.forEach((script, i) => {
        assert.equal(comparable(bench.run(script)), comparable(expected[i] ?? ''), `seed ${seed}:\n${script}`)
      })
    }
  }

  const given = process.env['HOLDFAST_SEED']
  const seeds = given === undefined ? [1, Date.now() % 1e9] : [Number(given)]
  for (const seed of seeds) {
    it(`random programs, seed ${seed}`, async (context) => {
      if (!redis) return context.skip('no redis')
      await redis.set('s', '1')
      await compare(redis, seed)
    })
  }
})
