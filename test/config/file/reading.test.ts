import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readSettings } from '#src/config/settings.js'
import { everyField, read, endpointOf, told, written } from '../files.js'

const single = (address: string, more = ''): string => `singleServerConfig:\n  address: ${address}\n${more}`

const nodesOf = async (text: string, env = {}): Promise<unknown> => endpointOf(await read(text, { env })).nodes

void describe('what a file says', () => {
  test('the article’s: one server, and the codec of JSON', async () => {
    const filed = await read(
      'singleServerConfig:\n  address: redis://127.0.0.1:6379\ncodec: !<org.redisson.codec.JsonJacksonCodec> {}\n',
    )
    assert.deepEqual(endpointOf(filed).nodes, [{ host: '127.0.0.1', port: 6379 }])
    assert.equal(filed.options.codec, 'jackson')
    assert.deepEqual(filed.warnings, [])
  })

  test('what has a counterpart is what the same options come to', async () => {
    const file = written(
      'counterparts.yml',
      [
        'singleServerConfig:',
        '  address: redis://h:1',
        '  timeout: 2500',
        '  connectTimeout: 4000',
        'lockWatchdogTimeout: 20_000'.replace('_', ''),
        'fairLockWaitTimeout: 60000',
        'checkLockSyncedSlaves: false',
        'slavesSyncTimeout: 700',
      ].join('\n'),
    )
    const { place, javaCodec, ...filed } = await readSettings({ file }, {})
    const { place: other, ...url } = await readSettings(
      {
        url: 'redis://h:1',
        commandTimeout: 2500,
        connectTimeout: 4000,
        watchdog: 20_000,
        fairWaiterTimeout: 60_000,
        replicas: { sync: false, timeout: 700 },
      },
      {},
    )
    assert.deepEqual(place, other)
    assert.equal(javaCodec?.codec, undefined)
    assert.equal(JSON.stringify(filed), JSON.stringify(url))
  })

  test('options beside the file go before it', async () => {
    const file = written('beside.yml', single('redis://h:1', '  timeout: 2500\nlockWatchdogTimeout: 20000\n'))
    const settings = await readSettings({ file, watchdog: 5000 }, {})
    assert.deepEqual([settings.watchdog, settings.commandTimeout], [5000, 2500])
  })

  test('replicas that are waited for longer than an answer → told, and the default is taken', async () => {
    const filed = await read(single('redis://h:1', '  timeout: 1000\nslavesSyncTimeout: 1000\n'))
    assert.equal(filed.options.replicas?.timeout, undefined)
    assert.deepEqual(filed.warnings.map(told), [
      'redisson.yml:4:1: slavesSyncTimeout is not used, because it is not below timeout',
    ])
  })

  test('addresses: users, sockets, IPv6, TLS, blanks', async () => {
    const forms: [string, unknown][] = [
      ['redis://h:1', [{ host: 'h', port: 1 }]],
      ['" valkey://h:1 "', [{ host: 'h', port: 1 }]],
      ['"redis://[::1]:7"', [{ host: '::1', port: 7 }]],
      ['"redis://fe80::1:7"', [{ host: 'fe80::1', port: 7 }]],
      ['redis+uds:///run/redis.sock', [{ path: '/run/redis.sock' }]],
    ]
    for (const [address, nodes] of forms) assert.deepEqual(await nodesOf(single(address)), nodes, address)
    for (const scheme of ['rediss', 'valkeys'])
      assert.equal(endpointOf(await read(single(`${scheme}://h:1`))).tls, true)
    const alone = endpointOf(await read(single('redis://p%40ss@h:1')))
    assert.deepEqual([alone.username, alone.password], [undefined, 'p@ss'])
    const both = endpointOf(await read(single('redis://u:p@h:1', '  password: other\n')))
    assert.deepEqual([both.username, both.password], ['u', 'p'])
    const root = endpointOf(await read(single('redis://h:1', '  password: inner\npassword: outer\nusername: me\n')))
    assert.deepEqual([root.username, root.password], ['me', 'outer'])
  })

  test('a password that YAML takes for a number → as it is written', async () => {
    assert.equal(endpointOf(await read(single('redis://h:1', 'password: 0012e3\n'))).password, '0012e3')
  })

  test('several sections → the first in Redisson’s order, and the other is told', async () => {
    const text = 'clusterServersConfig: {nodeAddresses: ["redis://c:1"]}\nsingleServerConfig: {address: "redis://s:1"}'
    const filed = await read(text)
    assert.deepEqual(endpointOf(filed).nodes, [{ host: 's', port: 1 }])
    assert.match(filed.warnings.join(), /1:1: clusterServersConfig is not used: singleServerConfig takes precedence/)
  })

  test('a topology each', async () => {
    const cluster = await read(
      'clusterServersConfig:\n  nodeAddresses:\n  - redis://a:1\n  - redis://b:2\n  shardedSubscriptionMode: off\n',
    )
    assert.deepEqual([endpointOf(cluster).topology, cluster.sharded], ['cluster', false])
    const sentinel = endpointOf(
      await read(
        'sentinelServersConfig: {sentinelAddresses: ["rediss://a:1"], masterName: m/1, sentinelPassword: w, sentinelsDiscovery: false}',
      ),
    )
    const { topology, master, sentinelPassword, sentinelsDiscovery, tls } = sentinel
    assert.deepEqual(
      [topology, master, sentinelPassword, sentinelsDiscovery, tls],
      ['sentinel', 'm/1', 'w', false, true],
    )
    const replicated = endpointOf(
      await read('replicatedServersConfig: {nodeAddresses: ["redis://a:1", "redis://b:2"]}'),
    )
    assert.deepEqual([replicated.topology, replicated.address], ['replicated', 'redis+replicated://a:1,b:2'])
    const master1 = endpointOf(
      await read('masterSlaveServersConfig: {masterAddress: "redis://a:1", slaveAddresses: ["redis://b:2"]}'),
    )
    assert.deepEqual([master1.topology, master1.nodes], ['single', [{ host: 'a', port: 1 }]])
  })

  test('addresses that servers tell are mapped, by host and port or by host', async () => {
    const at = (mapper: string) => read(`clusterServersConfig:\n  nodeAddresses: [redis://a:1]\n  ${mapper}\n`)
    const both = endpointOf(
      await at('natMapper: !<org.redisson.api.HostPortNatMapper> {hostsPortMap: {"10.0.0.1:1": "b:2"}}'),
    )
    assert.deepEqual([both.natMap?.('10.0.0.1:1'), both.natMap?.('10.0.0.1:2')], [{ host: 'b', port: 2 }, null])
    const host = endpointOf(await at('natMapper: !<org.redisson.config.HostNatMapper> {hostsMap: {10.0.0.1: b}}'))
    assert.deepEqual([host.natMap?.('10.0.0.1:5'), host.natMap?.('10.0.0.2:5')], [{ host: 'b', port: 5 }, null])
    const old = endpointOf(await at('natMap: {"10.0.0.1:1": "b:2"}'))
    assert.deepEqual(old.natMap?.('10.0.0.1:1'), { host: 'b', port: 2 })
    await assert.rejects(at('natMapper: !<com.example.Nat> {}'), /3:33: natMapper must be a HostPortNatMapper/)
  })

  test('a mapper of names → the function of that name; without one an error that names it', async () => {
    const text = single('redis://h:1', '  nameMapper: !<com.example.AppNames> {}\n')
    const mapper = (name: string): string => `app:${name}`
    for (const nameMappers of [{ 'com.example.AppNames': mapper }, { AppNames: mapper }])
      assert.equal((await read(text, { nameMappers })).options.mapName, mapper)
    assert.equal((await read(text, { mapName: mapper })).options.mapName, mapper)
    await assert.rejects(read(text), {
      code: 'CONFIG',
      message:
        /redisson\.yml:3:3: nameMapper com\.example\.AppNames is Java code: .*nameMappers: \{ 'com\.example\.AppNames'/,
    })
  })

  test('a codec that only Java has → told, and an error where a value needs it; not when another is passed', async () => {
    const text = single('redis://h:1', 'codec: !<org.redisson.codec.Kryo5Codec> {}\n')
    const filed = await read(text)
    assert.match(filed.warnings.join(), /3:1: codec: only Java can read and write org\.redisson\.codec\.Kryo5Codec/)
    const { codec } = filed.options
    assert.ok(typeof codec === 'object')
    assert.throws(() => codec.encode(1), /Kryo5Codec.*pass a codec/)
    const passed = await read(text, { codec: 'json' })
    assert.deepEqual([passed.warnings, passed.options.codec], [[], 'json'])
  })

  test('each codec that there is', async () => {
    const names = {
      'client.codec.StringCodec': 'string',
      'client.codec.LongCodec': 'long',
      'client.codec.ByteArrayCodec': 'bytes',
      'codec.JsonJackson3Codec': 'jackson',
    }
    for (const [java, ours] of Object.entries(names))
      for (const tag of [`!<org.redisson.${java}>`, `!!org.redisson.${java}`, `!org.redisson.${java}`])
        assert.equal((await read(single('redis://h:1', `codec: ${tag} {}\n`))).options.codec, ours, tag)
  })

  test('anchors and merged maps', async () => {
    const text = 'base: &base {timeout: 2500}\nsingleServerConfig:\n  <<: *base\n  address: redis://h:1\n'
    assert.equal((await read(text)).options.commandTimeout, 2500)
  })

  test('JSON, with tabs', async () => {
    const text =
      '{\n\t"singleServerConfig": {\n\t\t"address": "redis://h:1",\n\t\t"password": null\n\t},\n\t"codec": {\n\t\t"class": "org.redisson.codec.JsonJacksonCodec"\n\t},\n\t"threads": 3\n}\n'
    const filed = await read(text, { name: 'redisson.json' })
    assert.equal(filed.options.codec, 'jackson')
    assert.deepEqual(filed.warnings.map(told), ['redisson.json:9:2: threads is not used: there are no threads here'])
  })

  test('JSON with every field', async () => {
    const { text } = everyField('singleServerConfig', true)
    const yaml = await read(text)
    const lines = text.split('\n').map((line) => /^( *)(\w+): ?(.*)$/.exec(line) ?? [])
    const asJson = (value: string): string => {
      const type = /^!<([^>]*)> \{(.*)\}$/.exec(value)
      if (type?.[1] === undefined)
        return /^(true|false|\d+|".*"|\[".*)$/.test(value)
          ? value
          : value.startsWith('[')
            ? JSON.stringify(value.slice(1, -1).split(', '))
            : JSON.stringify(value)
      return JSON.stringify({ class: type[1] })
    }
    const members = (indent: string) =>
      lines
        .filter(([, spaces, name]) => spaces === indent && name !== 'singleServerConfig')
        .map(([, , name, value]) => `"${name}": ${asJson(value ?? '')}`)
    const json = `{"singleServerConfig": {${members('  ').join(',\n')}},\n${members('').join(',\n')}}`
    JSON.parse(json)
    const filed = await read(json, { name: 'redisson.json' })
    assert.deepEqual(endpointOf(filed), endpointOf(yaml))
    assert.equal(filed.warnings.length, yaml.warnings.length)
  })
})

void describe('placeholders', () => {
  const env = { HOST: 'redis.internal', PORT: '7', EMPTY: '', NODES: '["redis://a:1",\n    "redis://b:2"]' }

  test('from the environment, with a default, an empty default, a list', async () => {
    assert.deepEqual(await nodesOf(single('"redis://${HOST}:${PORT:-6379}"'), env), [
      { host: 'redis.internal', port: 7 },
    ])
    assert.deepEqual(await nodesOf(single('"redis://${NONE:-h}:${NONE:-6379}"'), env), [{ host: 'h', port: 6379 }])
    assert.deepEqual(await nodesOf('clusterServersConfig:\n  nodeAddresses: ${NODES}\n', env), [
      { host: 'a', port: 1 },
      { host: 'b', port: 2 },
    ])
    const filed = await read(single('redis://h:1', '  password: "${NONE:-}"\n  database: ${DB:-3}\n'), { env })
    assert.deepEqual([endpointOf(filed).password, endpointOf(filed).database], [undefined, 3])
  })

  test('not set, and no default → stays as it is written, and is told', async () => {
    const filed = await read(single('redis://h:1', '  clientName: ${NONE}\n'), { env })
    assert.equal(endpointOf(filed).clientName, '${NONE}')
    assert.deepEqual(filed.warnings.map(told), ['redisson.yml:3:15: clientName is used as written: NONE is not set'])
  })

  test('lines and columns are those of the file as it was', async () => {
    const text = 'clusterServersConfig: {nodeAddresses: ${NODES}, timeout: soon}\n'
    await assert.rejects(read(text, { env }), /redisson\.yml:1:49: timeout must be a whole number/)
  })
})

void describe('Spring’s application.yml', () => {
  const redisson = single('redis://h:1', '  database: 4\n')

  test('names a file beside it, in the form of each version', async () => {
    const inner = written('named.yml', redisson)
    for (const prefix of ['spring:\n  redis:\n    redisson:\n', 'spring:\n  data.redis:\n    redisson:\n'])
      for (const name of [
        'classpath:named.yml',
        'classpath:/named.yml',
        `file:${inner}`,
        inner,
        '"file://' + inner + '"',
      ]) {
        const filed = await read(`server:\n  port: 8080\n${prefix}      file: ${name}\n`, { name: 'application.yml' })
        assert.equal(endpointOf(filed).database, 4, name)
      }
    const dotted = await read('spring.redis.redisson.file: classpath:named.yml\n', { name: 'application.yml' })
    assert.equal(endpointOf(dotted).database, 4)
  })

  test('holds it, as a block → with the lines of that file', async () => {
    const block = (more: string): string =>
      `spring:\n  redis:\n    redisson:\n      config: |\n        ---\n        singleServerConfig:\n          address: "redis://\${HOST:h}:\${PORT:-1}"\n          ${more}\n        threads: 2\nserver:\n  port: 1\n`
    const filed = await read(block('database: 4'), { name: 'application.yml' })
    assert.deepEqual([endpointOf(filed).database, endpointOf(filed).nodes], [4, [{ host: 'h', port: 1 }]])
    assert.deepEqual(filed.warnings.map(told), ['application.yml:9:9: threads is not used: there are no threads here'])
    await assert.rejects(
      read(block('database: four'), { name: 'application.yml' }),
      /application\.yml:8:11: database must be/,
    )
  })

  test('holds it as fields, with Spring’s names', async () => {
    const text =
      'spring:\n  redis:\n    redisson:\n      config:\n        single-server-config:\n          address: redis://h:1\n          client-name: orders\n        lock-watchdog-timeout: 5000\n'
    const filed = await read(text, { name: 'application.yml' })
    assert.deepEqual([endpointOf(filed).clientName, filed.options.watchdog], ['orders', 5000])
  })

  test('documents for a profile do not count, and the last of the others does', async () => {
    const named = (database: number, profile = '') =>
      `${profile}spring.redis.redisson.config: |\n  singleServerConfig: {address: "redis://h:1", database: ${database}}\n`
    const text = [named(1), named(2), named(3, 'spring.config.activate.on-profile: test\n')].join('---\n')
    assert.equal(endpointOf(await read(text, { name: 'application.yml' })).database, 2)
  })

  test('says nothing of Redisson → an error that says what is read', async () => {
    await assert.rejects(
      read('spring:\n  redis:\n    host: h\n', { name: 'application.yml' }),
      /spring\.redis\.redisson\.file or .* is missing/,
    )
    await assert.rejects(
      read('spring.redis.redisson.file: classpath:none.yml\n', { name: 'application.yml' }),
      /none\.yml cannot be read: ENOENT/,
    )
  })
})

void describe('connect', () => {
  test('a file beside a url or a connection, or no text, or mappers that are none → refused', async () => {
    await assert.rejects(readSettings({ file: 'x', url: 'memory:' }, {}), /pass only one of file, url and connection/)
    await assert.rejects(readSettings({ file: 1 as unknown as string }, {}), {
      name: 'TypeError',
      message: /file must be a string/,
    })
    await assert.rejects(
      readSettings({ file: 'x', nameMappers: { a: 1 } as never }, {}),
      /nameMappers\['a'\] must be a function/,
    )
    await assert.rejects(readSettings({ file: '/nowhere/redisson.yml' }, {}), {
      name: 'ConfigError',
      message: '/nowhere/redisson.yml cannot be read: ENOENT',
    })
  })
})
