import assert from 'node:assert/strict'
import { test } from 'node:test'
import { networkOf } from 'holdfast/express'
import { networkOf as forFastify } from 'holdfast/fastify'
import { networkOf as forHono } from 'holdfast/hono'
import { seeded } from '../support/random.js'

type Random = ReturnType<typeof seeded>

const below = (random: Random, limit: number): number => Math.floor(random() * limit)
const either = <T>(random: Random, ...all: readonly T[]): T => all[below(random, all.length)]!

const cased = (random: Random, text: string): string =>
  text.replace(/[a-f]/g, (letter) => either(random, letter, letter.toUpperCase()))

/** One of the ways to write eight groups: leading zeros, a run of zeros left out, the last two as IPv4 has them. */
const spelled = (random: Random, groups: readonly number[]): string => {
  const texts = groups.map((group) => group.toString(16).padStart(1 + below(random, 4), '0'))
  const tail = groups.slice(6).flatMap((group) => [group >> 8, group & 255])
  const words = either(random, true, false) ? [...texts.slice(0, 6), tail.join('.')] : texts
  const runs = groups.slice(0, 6).flatMap((group, at) => (group === 0 ? [at] : []))
  if (runs.length === 0 || either(random, true, false)) return cased(random, words.join(':'))
  const from = either(random, ...runs)
  let to = from
  while (to < 6 && groups[to] === 0) to++
  return cased(random, `${words.slice(0, from).join(':')}::${words.slice(to).join(':')}`)
}

const dressed = (random: Random, address: string): string => {
  const zoned = either(random, address, address, `${address}%eth0`)
  const port = 1 + below(random, 65_535)
  return either(random, zoned, `[${zoned}]`, `[${zoned}]:${port}`, ` ${zoned} `, `"[${zoned}]:${port}"`)
}

void test('one IPv6 address, however it is spelled, and its neighbours of the network → one and the same', () => {
  const random = seeded(20)
  for (let n = 0; n < 3000; n++) {
    const groups = Array.from({ length: 8 }, () => either(random, 0, 0, below(random, 65_536), 0xffff))
    groups[0] = 0x2000 + below(random, 0x1000)
    const network = `${groups
      .slice(0, 4)
      .map((group) => group.toString(16))
      .join(':')}::/64`
    const neighbour = [...groups.slice(0, 4), ...Array.from({ length: 4 }, () => below(random, 65_536))]
    for (const each of [groups, groups, neighbour]) {
      const text = dressed(random, spelled(random, each))
      assert.equal(networkOf(text), network, text)
    }
  }
})

void test('one IPv4 address, alone, with a port, or within IPv6 → one and the same', () => {
  const random = seeded(21)
  for (let n = 0; n < 3000; n++) {
    const parts = Array.from({ length: 4 }, () => below(random, 256))
    const [a, b, c, d] = parts as [number, number, number, number]
    const address = parts.join('.')
    const mapped = [0, 0, 0, 0, 0, 0xffff, (a << 8) | b, (c << 8) | d]
    for (const text of [
      address,
      ` ${address}`,
      `${address}:${below(random, 65_536)}`,
      `"${address}:80"`,
      dressed(random, spelled(random, mapped)),
    ])
      assert.equal(networkOf(text), address, text)
  }
})

void test('another address → another; ::1 and 0.0.0.1 are two', () => {
  assert.equal(networkOf('::ffff:0102:0304'), '1.2.3.4')
  assert.equal(networkOf('::1'), '0:0:0:0::/64')
  assert.equal(networkOf('0.0.0.1'), '0.0.0.1')
  assert.notEqual(networkOf('[2a00::1]:443'), networkOf('[2a01::1]:443'))
})

void test('what is no address → one and the same for all', () => {
  const none = [
    undefined,
    '',
    ' ',
    'unknown',
    '_hidden',
    'localhost',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '010.1.1.1',
    '1.2.3.4:x',
  ]
  const more = [
    ':',
    '::1::',
    '[::1',
    '::1]',
    '[1.2.3',
    '1:2:3:4:5:6:7',
    'g::1',
    '12345::',
    '[]:80',
    '1.2.3.4, 5.6.7.8',
    '\0',
    'x'.repeat(1e6),
  ]
  for (const text of [...none, ...more, null as never, 7 as never]) {
    assert.equal(networkOf(text), 'unknown', String(text).slice(0, 40))
  }
})

void test('each framework has it', () => {
  assert.equal(forFastify, networkOf)
  assert.equal(forHono, networkOf)
})
