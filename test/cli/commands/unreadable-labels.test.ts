import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { admit, type AclLine, ANY_LINE, APP_LINE, READER_LINE } from '../../support/acl.js'
import { type Broken, onServer } from '../../support/server.js'
import { diagnosed, GOOD } from '../doctor/stage.js'
import { holdfast, linesOf } from './stage.js'

const UNKNOWN = 'label unknown \\(no permission for holdfast:client:\\*\\)'

/** A user of a line of SECURITY.md, but only for locks whose names begin with `app:`, and not for labels. */
const urlOf = async ({ redis, server }: Broken, line: AclLine): Promise<string> => {
  const words = line.words.filter((word) => !/^(%R)?~/.test(word))
  const keys = APP_LINE.words.filter((word) => word.startsWith('~') && !word.includes('holdfast:client'))
  assert.ok(keys.includes('~app:*'))
  const user = await admit(redis, { ...line, words: [...words, ...keys] }, 'secret-of-a-test')
  return `redis://${user}@127.0.0.1:${server.port}`
}

interface Row {
  readonly name: string
  readonly holders: readonly Readonly<Record<string, unknown>>[]
  readonly waiting: readonly Readonly<Record<string, unknown>>[]
}

void describe('a user who may read locks, but not labels', () => {
  onServer('show → the lock, and that the label is unknown; unlock → releases it', async (broken) => {
    const [one, two] = [await broken.open({ label: 'web-1' }), await broken.open({ label: 'web-2' })]
    await one.lock('app:l').acquire()
    const waits = two.lock('app:l').acquire()
    await broken.until(async () => (await one.lock('app:l').inspect()).waiting.length === 1)
    const url = await urlOf(broken, APP_LINE)
    const shown = await holdfast(['show', 'app:l'], { url })
    assert.deepEqual([shown.code, shown.error], [0, ''])
    assert.match(shown.out, new RegExp(`^app:l \\(lock\\)\\n {2}held by {2}client ${one.id}, ${UNKNOWN}\\n`))
    assert.match(shown.out, new RegExp(`\\n {2}waiting {2}1\\. client ${two.id}, ${UNKNOWN}\\n`))
    const { holders, waiting } = JSON.parse((await holdfast(['show', 'app:l', '--json'], { url })).out) as Row
    for (const [person] of [holders, waiting])
      assert.deepEqual([person?.['label'], person?.['labelUnknown']], [null, 'not permitted'])
    const owner = String(holders[0]?.['owner'])
    const { code, out, error } = await holdfast(['unlock', 'app:l', '--owner', owner, '--yes'], { url })
    assert.deepEqual([code, error], [0, ''])
    assert.match(
      out,
      new RegExp(
        `^released 'app:l', which was held by client ${one.id}, ${UNKNOWN} \\(owner ${owner}\\); now held by client ${two.id}, `,
      ),
    )
    await (await waits).release()
    assert.equal((await holdfast(['show', 'app:l'], { url })).code, 77, 'calls may wait for it, which only labels show')
    assert.equal((await holdfast(['show', 'other'], { url })).code, 77)
  })

  onServer('ls --scan → the locks, with ? for a label; ls and tree, which need the index → 77', async (broken) => {
    const client = await broken.open({ label: 'web-1' })
    await client.lock('app:l').acquire()
    await client.lock('other').acquire()
    const url = await urlOf(broken, READER_LINE)
    const { code, out, error } = await holdfast(['ls', '--scan', '-o', 'NAME,LABEL'], { url })
    assert.deepEqual([code, error], [0, ''])
    assert.deepEqual(
      linesOf(out)
        .slice(1)
        .map((line) => line.trim().split(/ +/)),
      [['app:l', '?']],
    )
    const rows = linesOf((await holdfast(['ls', '--scan', '--json'], { url })).out)
    const [holder] = (JSON.parse(rows[0] ?? '') as Row).holders
    assert.deepEqual([holder?.['label'], holder?.['labelUnknown']], [null, 'not permitted'])
    for (const command of ['ls', 'tree']) {
      const refused = await holdfast([command], { url })
      assert.deepEqual([refused.code, refused.out], [77, ''])
      assert.match(refused.error, /NOPERM|permission/)
    }
  })

  onServer(
    'doctor → says that labels could not be read, and calls nobody dead',
    async (broken) => {
      const client = await broken.open({ label: 'web-1' })
      await client.lock('app:l').acquire({ lease: 3_600_000 })
      await sleep(2000)
      const url = await urlOf(broken, ANY_LINE)
      const { codes, findings } = await diagnosed([], { url })
      assert.ok(!codes.includes('dead-holder') && !codes.includes('unreadable-label'), codes.join())
      const unseen = findings.filter(({ code }) => code === 'unseen').map(({ what }) => what.replace(/:.*/, ''))
      assert.deepEqual(unseen, ['reading the labels of clients was refused', 'listing the locks was refused'])
    },
    GOOD,
  )

  onServer('a user who may read labels → no such text, and null', async (broken) => {
    const client = await broken.open({ label: 'web-1' })
    await client.lock('app:l').acquire()
    const url = `redis://${await admit(broken.redis, APP_LINE, 'secret-of-a-test')}@127.0.0.1:${broken.server.port}`
    assert.match((await holdfast(['show', 'app:l'], { url })).out, /held by {2}web-1[,\n]/)
    const { holders } = JSON.parse((await holdfast(['show', 'app:l', '--json'], { url })).out) as Row
    assert.deepEqual([holders[0]?.['label'], holders[0]?.['labelUnknown']], ['web-1', null])
  })
})
