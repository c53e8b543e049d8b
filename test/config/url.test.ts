import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { ConfigError, connect } from 'holdfast'
import { parseUrl } from '#src/config/url.js'
import { rejection } from '../suites/contract/lock/kind.js'

/** Connecting to none of these is tried. */
const refused = async (url: string, text: RegExp): Promise<void> => {
  const error = await rejection(connect(url))
  assert.ok(error instanceof ConfigError, String(error))
  assert.match(error.message, text)
  assert.doesNotMatch(inspect(error, { depth: 20, showHidden: true }), /s3cret/)
}

void describe('URLs that cannot mean what they say', () => {
  for (const url of [
    'redis://:7/s3cret@host:6379/0',
    'redis://bob:s3cret/7@host',
    'rediss://bob:7/s3cret@host/1',
    'redis+cluster://bob:7/s3cret@h1,h2',
    'redis+sentinel://bob:7/s3cret@h1:26379,h2:26379/main',
    'redis+sentinel://bob:7/s3cret@h1/main/0?sentinelPassword=s3cret',
  ])
    test(`a password with a slash: ${url} → to be percent-encoded, and nothing of it is shown`, () =>
      refused(url, /percent-encode it in the user and the password \(%2F\)/))

  for (const url of [
    'redis+cluster://n1:1,:s3cret@n2:2',
    'redis+cluster://:s3cret@n1:1,:s3cret@n2:2',
    'rediss+cluster://n1,n2,bob:s3cret@n3/0',
    'redis+sentinel://n1:1,:s3cret@n2:2/main',
    'redis+sentinel://n1:1,:s3cret@n2:2/main?sentinelPassword=s3cret',
    'redis+cluster://:s3cret,s3cret@n1',
  ])
    test(`a user or password behind the first host: ${url} → to stand before it, and nothing of it is shown`, () =>
      refused(
        url,
        /write the user and the password once, before the first host .*percent-encode a ',' in them \(%2C\)/,
      ))

  test('a comma in a password: percent-encoded for several hosts, as it is for one', () => {
    for (const [url, hosts] of [
      ['redis+cluster://:a%2Cb@n1:1,n2:2', 2],
      ['redis+sentinel://:a%2Cb@n1:1,n2:2/main?sentinelPassword=c,d@e', 2],
      ['redis://:a,b@n1:1', 1],
    ] as const) {
      const place = parseUrl(url)
      assert.ok(place.engine === 'redis')
      assert.equal(place.endpoint.password, 'a,b')
      assert.equal(place.endpoint.nodes.length, hosts)
    }
  })

  for (const [scheme, family] of [
    ['redis', 'redis'],
    ['valkey', 'redis'],
    ['rediss', 'rediss'],
  ])
    test(`${scheme}: with two hosts → refused, with the forms for clusters and sentinels`, () =>
      refused(
        `${scheme}://:s3cret@h1:6379,h2:6379`,
        new RegExp(`names one server.* ${family}\\+cluster://.* ${family}\\+sentinel://`),
      ))

  for (const url of ['redis+cluster://:s3cret@h1:6379,h2:65536', 'redis+sentinel://:s3cret@h1:65536/main'])
    test(`a port above 65535: ${url} → refused`, () => refused(url, /has an invalid host or port/))
})
