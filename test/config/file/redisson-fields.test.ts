import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { FIELDS, SECTIONS } from '#src/config/file/redisson-fields.js'
import { tableOf, withTable } from '../../../scripts/config-docs.mjs'
import { everyField, read, sampleOf, endpointOf, told } from '../files.js'

const page = readFileSync(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8')

/** Without TLS these say nothing. */
const OF_TLS = ['sslVerificationMode', 'sslProtocols', 'sslCiphers', 'sslEnableEndpointIdentification']

void describe('every field of Redisson', () => {
  for (const section of Object.keys(SECTIONS)) {
    for (const anyInRoot of [true, false]) {
      test(`${section}, those of both places in the ${anyInRoot ? 'root' : 'section'} → loads; told once what is not used, and nothing else`, async () => {
        const { text, names } = everyField(section, anyInRoot)
        const filed = await read(text)
        const warned = filed.warnings.map(
          (warning) => /^redisson\.yml:\d+:\d+: (\w+) /.exec(told(warning))?.[1] ?? warning,
        )
        const unused = names.filter((name) => {
          const field = FIELDS.find((one) => one.name === name)
          assert.ok(field !== undefined)
          if (field.only !== undefined) return !sampleOf(name).includes(field.only)
          // Of two that say the same, the later one is asked.
          if (name === 'natMap') return true
          return field.fate === 'ignored' || OF_TLS.includes(name)
        })
        const expected = unused.filter((name) => name !== 'natMap' || names.includes('natMapper'))
        assert.deepEqual(warned.sort(), expected.sort())
        assert.equal(endpointOf(filed).clientName, 'orders')
      })
    }
  }

  for (const { name, where } of FIELDS.filter(
    ({ fate, name }) => fate === 'refused' && name !== 'credentialsResolver',
  )) {
    test(`${name} → refused, with its place`, async () => {
      assert.equal(where, 'root')
      const text = `singleServerConfig:\n  address: redis://h:1\n${name}: x`
      await assert.rejects(read(text), {
        name: 'ConfigError',
        message: new RegExp(`redisson\\.yml:3:1: ${name} cannot be used: `),
      })
    })
  }

  test('no name is there twice for one place', () => {
    const seen = FIELDS.map(({ where, name }) => `${where}.${name}`)
    assert.deepEqual(seen, [...new Set(seen)])
  })
})

void test('docs/configuration.md → has a row for each field, as the code has it: else node scripts/config-docs.mjs', () => {
  assert.equal(page, withTable(page, tableOf({ FIELDS, SECTIONS })))
})
