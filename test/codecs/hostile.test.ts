import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from 'holdfast'
import { until } from '../support/until.js'
import { seeded } from '../support/random.js'
import { codecOf } from '#src/codecs/codec-by-name.js'
import type { CodecName } from '#src/api/codec.js'

const CODECS: readonly CodecName[] = ['json', 'jackson', 'string', 'long', 'bytes']
const LONG = '1234567890123456'

/** Each gives about so many bytes. */
const HOSTILE: Readonly<Record<string, (size: number) => string>> = {
  'quotes alone': (size) => LONG + '"'.repeat(size),
  'quotes and backslashes': (size) => `[${LONG},${'"\\'.repeat(size / 2)}`,
  'backslashes alone': (size) => `["${'\\'.repeat(size)}`,
  'a text that does not end': (size) => `[${LONG},"${'a'.repeat(size)}`,
  'a long text': (size) => `[${LONG},"${'a'.repeat(size)}"]`,
  'a long text of escapes': (size) => `[${LONG},"${'\\"'.repeat(size / 2)}"]`,
  'many texts and one backslash at the end': (size) => `[${LONG},${'"a",'.repeat(size / 4)}"\\n"]`,
  'many numbers': (size) => `[${Array.from({ length: size / 17 }, () => LONG).join()}]`,
  'one number': (size) => '9'.repeat(size),
  'many digits behind the point': (size) => `["java.math.BigDecimal",0.${'9'.repeat(size)}]`,
  zeros: (size) => `["java.math.BigDecimal","${'0'.repeat(size)}1${'0'.repeat(size)}x"]`,
  signs: (size) => '-'.repeat(size),
  spaces: (size) => `[${' '.repeat(size)}${LONG}`,
  'lists in lists': (size) => '['.repeat(size / 2) + ']'.repeat(size / 2),
  'lists that do not end': (size) => `[${LONG},`.repeat(size / 18),
  'objects in objects': (size) => '{"a":'.repeat(size / 6) + '1' + '}'.repeat(size / 6),
  'many lists beside one another': (size) => `[${LONG},${'[],'.repeat(size / 3)}1]`,
  'names of classes': (size) => `["${'a.'.repeat(size / 2)}A",${LONG}]`,
  'names of arrays': (size) => `["${'['.repeat(size)}L;",${LONG}]`,
  'one name again and again': (size) => `{${`"a":${LONG},`.repeat(size / 21)}"a":1}`,
  'control characters': (size) => `["${'\u0001'.repeat(size)}",${LONG}]`,
}

const SMALL = 32 * 1024
const TIMES = 8

/** ms; the least of some, since the machine may do something else meanwhile. */
const timeOf = (work: () => void, rounds: number): number => {
  let least = Infinity
  for (let round = 0; round < rounds; round++) {
    const begun = performance.now()
    work()
    least = Math.min(least, performance.now() - begun)
  }
  return least
}

for (const name of CODECS) {
  void test(`'${name}': a hostile message that is ${TIMES} times as long takes about as much longer, and no more`, () => {
    const { decode } = codecOf(name)
    const reading = (data: Uint8Array) => (): void => {
      try {
        decode(data)
      } catch (error) {
        assert.ok(error instanceof Error && !/call stack|regular expression/i.test(error.message), String(error))
      }
    }
    for (const [what, make] of Object.entries(HOSTILE)) {
      const [small, large] = [SMALL, TIMES * SMALL].map((size) => reading(Buffer.from(make(size))))
      const ratios: number[] = []
      // Below a tenth of a second for a quarter of a MB it is the collector of garbage that is seen; what is quadratic takes many seconds.
      for (const rounds of [1, 3, 5, 9]) {
        const most = timeOf(large!, rounds)
        ratios.push(most < 100 ? 1 : most / timeOf(small!, rounds))
        if (ratios.at(-1)! < 3 * TIMES) break
      }
      assert.ok(ratios.at(-1)! < 3 * TIMES, `${what}: ${ratios.join(', ')} times as long`)
    }
  })
}

void test('texts of 10 MB, with escapes and long numbers beside them → read as they are', () => {
  for (const name of ['json', 'jackson'] as const) {
    const { decode } = codecOf(name)
    const long = 'ä'.repeat(5_000_000)
    const escaped = '\\"\\\\'.repeat(2_500_000)
    const read = decode(
      Buffer.from(`{"@class":"pkg.A","a":"${long}","b":"${escaped}","c":1234567890123456}`),
    ) as Record<string, unknown>
    assert.ok(read['a'] === long && read['b'] === '"\\'.repeat(2_500_000))
    assert.equal(read['c'], 1_234_567_890_123_456)
  }
})

void test('deeper than 1,000 levels, larger than 64 MiB, longer than 1,000 digits → RangeError that says so', () => {
  for (const name of ['json', 'jackson'] as const) {
    const { decode } = codecOf(name)
    const nested = (levels: number): Uint8Array => Buffer.from('['.repeat(levels) + ']'.repeat(levels))
    decode(nested(1000))
    assert.throws(() => decode(nested(1001)), /^RangeError: JSON may be nested at most 1000 levels deep$/)
    assert.throws(() => decode(nested(5_000_000)), RangeError)
    assert.throws(
      () => decode(Buffer.alloc(64 * 1024 * 1024 + 1, ' ')),
      /^RangeError: .* at most 67108864 bytes, not 67108865$/,
    )
    // Brackets in a text are no levels.
    assert.equal((decode(Buffer.from(`["${'['.repeat(5000)}"]`)) as string[])[0]!.length, 5000)
  }
  const { decode, encode } = codecOf('jackson')
  assert.throws(() => decode(Buffer.from('9'.repeat(1001))), /^RangeError: a number may have at most 1000 digits$/)
  let deep: unknown = 1
  for (let level = 0; level < 100_000; level++) deep = [deep]
  assert.throws(() => encode(deep), /^RangeError: JSON may be nested at most 1000 levels deep$/)
})

void test('any JSON, whole or broken → jackson reads it as JSON.parse does, or refuses it as that does', () => {
  const random = seeded(22)
  const below = (limit: number): number => Math.floor(random() * limit)
  const LEAVES = [
    '0',
    '-0',
    '1',
    '-1.5',
    '1e3',
    '0.1E-2',
    '""',
    '"a"',
    '"\\u00e4\\n\\\\"',
    '"ä😀"',
    'true',
    'false',
    'null',
    '"\\""',
  ]
  const make = (levels: number): string => {
    const kind = levels === 0 ? 0 : below(4)
    const space = ['', '', ' ', '\n\t'][below(4)]
    const many = Array.from({ length: kind === 0 ? 0 : below(4) }, () => make(levels - 1))
    if (kind === 1) return `${space}[${many.join(`${space},`)}]`
    if (kind === 2)
      return `{${many.map((value, at) => `"${['a', 'b', '__proto__', '1', ''][(at + below(5)) % 5]}"${space}:${value}`).join()}}`
    return `${space}${LEAVES[below(LEAVES.length)]}${space}`
  }
  const { decode } = codecOf('jackson')
  const outcome = (read: () => unknown): unknown => {
    try {
      return { value: read() }
    } catch {
      return 'refused'
    }
  }
  let refused = 0
  for (let n = 0; n < 20_000; n++) {
    let text = make(4)
    if (n % 2 === 1) {
      const at = below(text.length + 1)
      const added = ['', '"', '\\', ',', ']', '}', '0', '.', 'e', '-', ':', '\u0001', ' ', 't'][below(14)]!
      text = text.slice(0, at) + added + text.slice(at + below(2))
    }
    // As it comes: half of a character does not.
    text = Buffer.from(text).toString()
    const expected = outcome(() => JSON.parse(text) as unknown)
    if (expected === 'refused') refused++
    assert.deepEqual(
      outcome(() => decode(Buffer.from(text))),
      expected,
      text,
    )
  }
  assert.ok(refused > 1000, String(refused))
})

void test('a message that no codec reads → an error of the client; the listener hears the next one', async () => {
  const client = await connect({ url: 'memory:hostile', codec: 'jackson' })
  const sender = await connect({ url: 'memory:hostile', codec: 'string' })
  const heard: unknown[] = []
  const errors: Error[] = []
  client.on('error', (error) => void errors.push(error))
  try {
    await client.topic('a').subscribe((message) => void heard.push(message))
    const all = Object.values(HOSTILE).map((make) => make(SMALL))
    for (const text of [...all, '["java.util.Date","x"]', '["java.lang.Long"', '\0', '1'])
      await sender.topic('a').publish(text)
    await until(() => heard.at(-1) === 1)
    assert.ok(errors.length >= all.length / 2, String(errors.length))
    assert.equal(errors.length + heard.length, all.length + 4)
  } finally {
    await client.close()
    await sender.close()
  }
})
