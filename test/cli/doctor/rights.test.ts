import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { connect } from 'holdfast'
import { BOTH, commandOf, ONLY_FULL, ONLY_LOOKING, type Rights, rightsAt } from '#src/cli/doctor/rights.js'
import { serverAt } from '#src/cli/doctor/server.js'
import { probeOf } from '#src/probe.js'
import { admit, ANY_LINE, APP_LINE, READER_LINE } from '../../support/acl.js'
import { onServer } from '../../support/server.js'
import { holdfast } from '../commands/stage.js'
import { diagnosed, GOOD, onlyOne } from './stage.js'

const PASSWORD = 'secret-of-a-test'
/** Only for a cluster, or for another database. */
const NOT_MISSED = [
  'cluster|info',
  'cluster|slots',
  'ssubscribe',
  'sunsubscribe',
  'spublish',
  'pubsub|shardnumsub',
  'select',
]

void describe('holdfast doctor: the rights of a user', () => {
  test('the commands that are tested → those of the lines of SECURITY.md', () => {
    const names = (...calls: (readonly string[])[]): string[] => calls.flat().map(commandOf).sort()
    assert.deepEqual(names(BOTH, ONLY_FULL), [...ANY_LINE.commands].sort())
    assert.deepEqual(names(BOTH, ONLY_FULL), [...APP_LINE.commands].sort())
    assert.deepEqual(names(BOTH, ONLY_LOOKING), [...READER_LINE.commands].sort())
  })

  onServer(
    'each line of SECURITY.md → what its user may do, and nothing to find',
    async ({ redis, server }) => {
      for (const [line, rights, someNames] of [
        [ANY_LINE, 'full', false],
        [APP_LINE, 'full', true],
        [READER_LINE, 'looks', false],
      ] as const) {
        await admit(redis, line, PASSWORD)
        const user = line.words[2] ?? ''
        const { codes, servers } = await diagnosed(['--user', user], { url: server.url })
        assert.deepEqual(codes, [])
        const [first] = servers
        assert.deepEqual([first?.['user'], first?.['rights'], first?.['someNames']], [user, rights, someNames])
      }
    },
    GOOD,
  )

  onServer(
    'each command that a user lacks → this command, and no other',
    async ({ redis, server }) => {
      const client = await connect({ url: server.url, presence: false })
      try {
        const probe = probeOf(client)
        const master = await serverAt(probe, undefined)
        for (const line of [ANY_LINE, READER_LINE]) {
          await admit(redis, line, PASSWORD)
          const user = line.words[2] ?? ''
          for (const command of line.commands) {
            await redis.call('ACL', 'SETUSER', user, `-${command}`)
            const { missing, level } = (await rightsAt(probe, master, user)) as Rights
            const expected = NOT_MISSED.includes(command) ? [] : [command]
            assert.deepEqual([missing, level !== 'less'], [expected, expected.length === 0], `${user} -${command}`)
            await redis.call('ACL', 'SETUSER', user, `+${command}`)
          }
        }
      } finally {
        await client.close()
      }
    },
    GOOD,
  )

  onServer(
    'a user who lacks commands, and the command that is printed → the user has them',
    async ({ redis, server }) => {
      await admit(redis, ANY_LINE, PASSWORD)
      await redis.call('ACL', 'SETUSER', 'holdfast', '-hdel', '-pubsub|numsub')
      const diagnosis = (): ReturnType<typeof diagnosed> => diagnosed(['--user', 'holdfast'], { url: server.url })
      const { what, run } = onlyOne(await diagnosis(), 'rights')
      assert.equal(what, "the user 'holdfast' may not use pubsub|numsub, hdel")
      const [, words = ''] = /^redis-cli -u \S+ ACL (.*)$/.exec(run[0] ?? '') ?? []
      await redis.call('ACL', ...words.split(' '))
      assert.deepEqual((await diagnosis()).codes, [])
    },
    GOOD,
  )

  onServer(
    'a user who may not write labels → labels',
    async ({ redis, server }) => {
      const rules = ['SETUSER', 'app', 'on', 'nopass', '~app:*', '~{app:*', '&*', '+@all']
      await redis.call('ACL', ...rules)
      const diagnosis = (): ReturnType<typeof diagnosed> => diagnosed(['--user', 'app'], { url: server.url })
      const { run } = onlyOne(await diagnosis(), 'labels')
      assert.deepEqual(run, [`redis-cli -u ${server.url} ACL SETUSER app '~holdfast:client:*'`])
      await redis.call('ACL', 'SETUSER', 'app', '~holdfast:client:*')
      assert.deepEqual((await diagnosis()).codes, [])
    },
    GOOD,
  )

  onServer(
    'a user who may not ask for rights → it says so, and finds nothing',
    async ({ redis, server }) => {
      for (const line of [ANY_LINE, READER_LINE]) {
        const url = `redis://${await admit(redis, line, PASSWORD)}@127.0.0.1:${server.port}`
        const { codes, servers } = await diagnosed([], { url })
        assert.deepEqual([codes, servers[0]?.['rights']], [[], null])
        assert.match((await holdfast(['doctor'], { url })).out, /rights not tested \(NOPERM .*; try --user USER/)
      }
    },
    GOOD,
  )

  onServer(
    'a server without ACL DRYRUN → the same',
    async ({ server }) => {
      const { codes, servers } = await diagnosed([], { url: server.url })
      assert.deepEqual([codes, servers[0]?.['rights']], [[], null])
    },
    [...GOOD, '--rename-command', 'ACL', ''],
  )

  onServer(
    'questions that are refused → unseen, one each; the rest is examined',
    async ({ redis, server }) => {
      await redis.config('SET', 'maxmemory-policy', 'allkeys-lru')
      const url = `redis://${await admit(redis, READER_LINE, PASSWORD)}@127.0.0.1:${server.port}`
      const refused = async (rule: string, undo: string): Promise<readonly string[]> => {
        await redis.call('ACL', 'SETUSER', 'holdfast-reader', rule)
        const { findings } = await diagnosed([], { url })
        await redis.call('ACL', 'SETUSER', 'holdfast-reader', ...undo.split(' '))
        return findings.map(({ code, what }) => `${code} ${/^[\w ]+ refused/.exec(what)?.[0] ?? ''}`.trim())
      }
      assert.deepEqual(await refused('+info', '+info'), ['eviction'])
      assert.deepEqual(await refused('-info', '+info'), ['unseen INFO was refused'])
      assert.deepEqual(await refused('-ping', '+ping'), ['unseen PING was refused', 'eviction'])
      assert.deepEqual(await refused('-time', '+time'), [
        'unseen TIME was refused',
        'eviction',
        'unseen listing the locks was refused',
      ])
      assert.deepEqual(await refused('-get', '+get'), ['eviction', 'unseen reading the labels of clients was refused'])
      assert.deepEqual(await refused('-evalsha', '+evalsha'), ['eviction', 'unseen listing the locks was refused'])
    },
    GOOD,
  )

  onServer(
    'no such user → 64; a wrong password → 77',
    async ({ redis, server }) => {
      const { code, error } = await holdfast(['doctor', '--user', 'no\u001b[2Jbody'], { url: server.url })
      assert.equal(code, 64)
      assert.match(error, /^holdfast: the server has no user 'no\\u001b\[2Jbody'\n/)
      await admit(redis, READER_LINE, PASSWORD)
      const url = `redis://holdfast-reader:wrong@127.0.0.1:${server.port}`
      assert.equal((await holdfast(['doctor'], { url })).code, 77)
    },
    GOOD,
  )
})
