import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { commandOf } from '#src/engine/ioredis/commands.js'
import { slotOf } from '#src/keys.js'

const SHA = 'a'.repeat(40)
const call = (key: string): string[] => ['EVALSHA', SHA, '1', key, 'argument']
const wordsOf = ([name = '', sha = '', , ...rest]: string[]) => [name, sha, 1, ...rest]
const asText = (words: readonly string[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`

/** A socket, as far as commands go. */
const socket = (): { readonly sink: Writable; readonly writes: string[] } => {
  const writes: string[] = []
  const sink = new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, done) => {
      writes.push(text)
      done()
    },
    writev: (chunks, done) => {
      writes.push(...chunks.map(({ chunk }) => String(chunk)))
      done()
    },
  })
  return { sink, writes }
}

void describe('a script call in a cluster', () => {
  void it('goes to the slot of its first key, with the bytes that another command would have', () => {
    for (const key of ['plain', 'a{tag}b', 'ключ']) {
      const command = commandOf(wordsOf(call(key)), {}, 'cluster')
      assert.equal(command.getSlot(), slotOf(key))
      assert.equal(command.toWritable(socket().sink), asText(call(key)))
    }
  })

  void it('without keys, or with bytes, is left to ioredis', () => {
    assert.equal(commandOf(['EVALSHA', SHA, 0, 'argument'], {}, 'cluster').getSlot(), null)
    const withBytes = commandOf(['EVALSHA', SHA, 1, 'key', Buffer.from('bytes')], {}, 'cluster')
    assert.equal(withBytes.getSlot(), slotOf('key'))
  })

  void it('leaves together with the others of its tick for the same node, sixteen at most, in order', async () => {
    const [one, other] = [socket(), socket()]
    const sent = Array.from({ length: 40 }, (_, i) => call(`key:${i}`))
    for (const [i, words] of sent.entries()) {
      const { sink } = i % 4 === 0 ? other : one
      sink.write(commandOf(wordsOf(words), {}, 'cluster').toWritable(sink))
    }
    await turn()
    const textOf = (to: number): string =>
      sent
        .filter((_, i) => (i % 4 === 0) === (to === 0))
        .map(asText)
        .join('')
    assert.deepEqual([one.writes.join(''), other.writes.join('')], [textOf(1), textOf(0)])
    // The first one leaves by itself: it may be the only one.
    assert.deepEqual([one.writes.length, other.writes.length], [3, 2])
  })
})
