import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { Source, type Tree } from '#src/config/file/yaml-tree.js'
import { REDISSON } from '#src/config/file/placeholders.js'
import { ConfigError } from '#src/errors.js'
import { read, endpointOf, told } from '../files.js'

const treeOf = (text: string): Tree | undefined => new Source('a.yml', text, {}, REDISSON).documents()[0]

/** What the tree says, as plain values. */
const plain = (tree: Tree | undefined): unknown => {
  if (tree?.kind === 'text') return tree.text
  if (tree?.kind === 'list') return tree.items.map(plain)
  if (tree?.kind === 'map') return Object.fromEntries(tree.entries.map(({ name, value }) => [name, plain(value)]))
  return null
}

const refused = (text: string): string => {
  try {
    treeOf(text)
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error))
    return error.message
  }
  return assert.fail(`not refused: ${text.slice(0, 100)}`)
}

const timed = (work: () => void): number => {
  const began = performance.now()
  work()
  return performance.now() - began
}

const BASES = 'b: &b {x: b, y: b}\nc: &c {y: c, z: c}\n'

describe('YAML is read as the yaml package does with merge: true', () => {
  for (const [what, text] of Object.entries({
    'a merge behind a field does not override it': `${BASES}m: {x: own, <<: *b}`,
    'nor a merge before it': `${BASES}m: {<<: *b, x: own}`,
    'a list of merges: the first wins': `${BASES}m: {<<: [*b, *c]}`,
    'in the other order': `${BASES}m: {<<: [*c, *b]}`,
    'several merges': `${BASES}m:\n  <<: *b\n  <<: *c\n  z: own`,
    'a map that stands there': 'm: {<<: {x: merged}, y: own}',
    'merged from what was merged': `${BASES}d: &d {<<: *b, w: d}\nm: {<<: *d, y: own}`,
    'a quoted << is a name': `m: {'<<': text, x: own}`,
    'aliases of texts and lists': 'a: &a [one, two]\nb: *a\nc: &c text\nd: [*c, *c]',
    'the last anchor of a name before the alias': 'a: &a one\nb: *a\nc: &a two\nd: *a',
    'the tags of YAML itself': 'a: !!str 12\nb: !!map {c: !!seq [d]}',
  })) {
    test(what, () => {
      assert.deepEqual(plain(treeOf(text)), parse(text, { merge: true }))
    })
  }

  test('the field beside a merge is the one that counts: the right server', async () => {
    const text =
      'base: &base {address: redis://wrong:1, timeout: 5}\nsingleServerConfig:\n  address: redis://right:1\n  <<: *base\n'
    const filed = await read(text)
    assert.deepEqual(endpointOf(filed).nodes, [{ host: 'right', port: 1 }])
    assert.equal(filed.options.commandTimeout, 5)
  })
})

describe('what YAML leaves open is refused where it stands, without its text', () => {
  const within = (value: string): string => `singleServerConfig:\n  address: redis://h:1\n  password: ${value}\n`

  for (const [what, value, expected] of [
    ['an alias without an anchor', '*secret', /^a.yml:3:13: this names an anchor .* that does not exist/],
    [
      'an anchor without a value',
      '&secret',
      /^a.yml:3:13: this is an anchor without a value|^a.yml:3:\d+: this is an anchor/,
    ],
    ['a tag of nobody', '!secret word', /^a.yml:3:\d+: this tag is unknown/],
    ['a tag alone', '!secret', /^a.yml:3:\d+: this tag is unknown/],
    ['a tag of YAML that nothing here means', '!!binary c2VjcmV0', /^a.yml:3:\d+: this tag is unknown/],
    ['a tag of a list', '!secret [a]', /^a.yml:3:\d+: this tag is unknown/],
  ] as const) {
    test(what, () => {
      const message = refused(within(value))
      assert.match(message, expected)
      assert.doesNotMatch(message, /secret|c2Vjcm/)
    })
  }

  test('a class where a text belongs', async () => {
    await assert.rejects(read(within('!<a.b.C> word')), (error: Error) =>
      /:3:\d+: password must be text/.test(error.message),
    )
  })

  test('a merge of what holds no fields', () => {
    assert.match(refused('a: &a text\nb: {<<: *a}'), /^a.yml:2:5: << can merge only fields/)
    assert.match(refused('a: &a text\nb: {<<: [*a]}'), /^a.yml:2:5: << can merge only fields/)
  })

  test('a field twice', () => {
    assert.match(refused('a: 1\nb: 2\na: 3\n'), /^a.yml:3:1: this is not YAML \(duplicate key\)/)
  })

  test('what holds itself', () => {
    assert.match(refused('a: &a [*a]'), /contains itself/)
    assert.match(refused('a: &a {b: *a}'), /contains itself/)
  })
})

describe('a file costs no more than its size', () => {
  test('aliases of aliases are refused at once', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
    for (let i = 1; i < 25; i++)
      lines.push(
        `a${i}: &a${i} [${Array(10)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
      )
    const merges = ['m0: &m0 {x: 1}']
    for (let i = 1; i < 25; i++)
      merges.push(
        `m${i}: &m${i} {<<: [${Array(10)
          .fill(`*m${i - 1}`)
          .join(', ')}]}`,
      )
    for (const text of [lines.join('\n'), merges.join('\n')]) {
      const ms = timed(() => assert.match(refused(text), /^a.yml:\d+:\d+: aliases \(\*name\) repeat too much/))
      assert.ok(ms < 1000, `${ms} ms`)
    }
  })

  test('many small aliases are refused once they are too many together', () => {
    const text = `a: &a [${Array(100).fill('x').join(', ')}]\nb: [${Array(120).fill('*a').join(', ')}]`
    assert.match(refused(text), /^a.yml:\d+:\d+: aliases \(\*name\) repeat too much/)
  })

  test('a thousand aliases of one value are fine', () => {
    const tree = treeOf(`a: &a {x: 1, y: 2}\nl: [${Array(1000).fill('*a').join(', ')}]`)
    assert.equal((plain(tree) as { l: unknown[] }).l.length, 1000)
  })

  test('a map of 16,000 fields, with placeholders', () => {
    const text = Array.from({ length: 16_000 }, (_, i) => `field${i}: \${NONE:-value} ${i}`).join('\n')
    const ms = timed(() => treeOf(text))
    assert.ok(ms < 5000, `${ms} ms`)
    const double = timed(() => treeOf(`${text}\n${text.replaceAll('field', 'other')}`))
    assert.ok(double < 6 * Math.max(ms, 100), `twice as much: ${double} ms, ${ms} ms for the half`)
  })
})

describe('names that every object has are names like any other', () => {
  const file = (more: string): string => `singleServerConfig:\n  address: redis://h:1\n${more}\n`

  for (const name of ['toString', 'constructor', 'hasOwnProperty', '__proto__', 'valueOf']) {
    test(name, async () => {
      await assert.rejects(read(file(`nameMapper: ${name}`)), /nameMapper .* is Java code/)
      const filed = await read(file(`codec: ${name}`))
      assert.match(filed.warnings.join(), /codec: only Java can read and write /)
      const unset = await read(file(`  clientName: \${${name}}`))
      assert.match(unset.warnings.join(), new RegExp(`clientName is used as written: ${name} is not set`))
      assert.equal(endpointOf(unset).clientName, `\${${name}}`)
      const fallback = await read(file(`  clientName: \${${name}:-me}`))
      assert.equal(endpointOf(fallback).clientName, 'me')
    })
  }
})

describe('no part of a password is told', () => {
  for (const [field, section] of Object.entries({
    password: 'singleServerConfig:\n  address: redis://h:1\n',
    sentinelPassword: 'sentinelServersConfig:\n  masterName: m\n  sentinelAddresses: [redis://a:1]\n',
  })) {
    test(`what looks like a placeholder within ${field}`, async () => {
      const { warnings } = await read(`${section}  ${field}: a\${hunter2}b\n`)
      assert.deepEqual(warnings.map(told), [
        `redisson.yml:${section.split('\n').length}:${field.length + 5}: ${field} is used as written: a placeholder in it is not set`,
      ])
    })
  }
})

test('a file that Spring names by an address of another machine is a ConfigError that says which field', async () => {
  const text = 'spring:\n  redis:\n    redisson:\n      file: file://evil/x\n'
  await assert.rejects(read(text, { name: 'application.yml' }), (error: unknown) => {
    assert.ok(error instanceof ConfigError)
    assert.match(error.message, /application.yml:4:13: file must be a path/)
    return true
  })
})
