import type { Client } from '../api/client.js'
import { anyMaster } from './any-master.js'

const LONGEST = 40

/** For example `Redis 7.2.4`; undefined: this user may not ask, or the server does not say. */
export const serverVersion = async (client: Client): Promise<string | undefined> => {
  try {
    const info = await anyMaster(
      client,
      (probe, node) => probe.text(['INFO', 'server'], node),
      async () => (await client.script("return redis.call('INFO', 'server')").run({ returns: 'status' })) ?? '',
    )
    const valkey = /^valkey_version:(\S+)\r?$/m.exec(info)?.[1]
    const version = valkey ?? /^redis_version:(\S+)\r?$/m.exec(info)?.[1]
    return version && `${valkey === undefined ? 'Redis' : 'Valkey'} ${version}`.slice(0, LONGEST)
  } catch {
    return undefined
  }
}
