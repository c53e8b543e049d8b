import assert from 'node:assert/strict'
import { randomBytes, randomInt } from 'node:crypto'
import { describe, it } from 'node:test'
import { platform as browser } from '#src/base/platform/browser.js'
import { platform as node } from '#src/base/platform/node.js'

const LENGTHS = [...Array.from({ length: 140 }, (_, i) => i), 1000, 8192, 20_000]
const CHARACTERS = ['a', 'ä', '漢', '😀', '\uFEFF', '\u0000', '/', '+', '=', '\uD800']

const anyText = (length: number): string =>
  Array.from({ length }, () => CHARACTERS[randomInt(CHARACTERS.length)]).join('')

void describe('the platform in a browser gives what Node gives', () => {
  for (const algorithm of ['sha1', 'sha256'] as const)
    void it(algorithm, () => {
      for (const length of LENGTHS) {
        const text = anyText(length)
        const bytes = randomBytes(length).toString('latin1')
        assert.equal(browser.hash(algorithm, text), node.hash(algorithm, text), text)
        assert.equal(browser.hash(algorithm, bytes, 'latin1'), node.hash(algorithm, bytes, 'latin1'))
      }
    })

  void it('hexadecimal and base64', () => {
    for (const length of LENGTHS) {
      const bytes = randomBytes(length)
      const base64 = node.toBase64(bytes)
      assert.equal(browser.toHex(bytes), node.toHex(bytes))
      assert.equal(browser.toBase64(bytes), base64)
      assert.deepEqual(Buffer.from(browser.fromBase64(base64)), bytes)
      const text = anyText(length)
      assert.equal(browser.toBase64url(text), node.toBase64url(text))
      assert.equal(browser.fromBase64url(node.toBase64url(text)), node.fromBase64url(node.toBase64url(text)))
    }
  })

  void it('base64 that is none', () => {
    for (let i = 0; i < 500; i++) {
      const text = randomBytes(randomInt(20)).toString('latin1')
      assert.deepEqual(Buffer.from(browser.fromBase64(text)), Buffer.from(node.fromBase64(text)), JSON.stringify(text))
    }
    for (const text of ['', 'a', 'ab', 'abc', 'abcde', 'ab=cd', 'a b\nc', '!!!', '-_-_'])
      assert.deepEqual(Buffer.from(browser.fromBase64(text)), Buffer.from(node.fromBase64(text)), text)
  })

  void it('UTF-8', () => {
    for (const length of LENGTHS) {
      const [text, bytes] = [anyText(length), randomBytes(length)]
      assert.equal(browser.utf8Length(text), node.utf8Length(text))
      assert.deepEqual(Buffer.from(browser.toUtf8(text)), Buffer.from(node.toUtf8(text)))
      assert.equal(browser.fromUtf8(bytes), node.fromUtf8(bytes))
    }
  })
})

void describe('a context in a browser', () => {
  const context = browser.context<string>()
  const other = browser.context<string>()

  void it('lasts for the synchronous part of its work', async () => {
    const seen: (string | undefined)[] = []
    await context.run('a', async () => {
      seen.push(context.getStore())
      await Promise.resolve()
      seen.push(context.getStore())
    })
    assert.deepEqual([...seen, context.getStore()], ['a', undefined, undefined])
  })

  void it('is never that of another call', async () => {
    const work = async (name: string): Promise<string | undefined> => {
      await Promise.resolve()
      return context.run(name, () => context.getStore())
    }
    assert.deepEqual(await Promise.all([work('a'), work('b')]), ['a', 'b'])
    assert.throws(() => context.run('c', () => assert.fail('thrown')), /thrown/)
    assert.equal(context.getStore(), undefined)
  })

  void it('is kept by a snapshot and a bound listener, beside other contexts', () => {
    const kept = context.run('a', () => ({
      inside: browser.snapshot(),
      listener: browser.bind((text: string) => `${text} ${String(context.getStore())} ${String(other.getStore())}`),
    }))
    assert.equal(
      other.run('o', () => kept.listener('hears')),
      'hears a undefined',
    )
    assert.equal(
      kept.inside.runInAsyncScope(() => context.getStore()),
      'a',
    )
    const receiver = { name: 'r' }
    const say = function (this: typeof receiver, text: string): string {
      return `${this.name} ${text} ${String(context.getStore())}`
    }
    assert.equal(kept.inside.runInAsyncScope(say, receiver, 'says'), 'r says a')
    assert.equal(
      other.run('o', () => context.run('b', () => `${String(other.getStore())} ${String(context.getStore())}`)),
      'o b',
    )
  })
})
