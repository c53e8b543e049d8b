import { LONGEST_LEASE, LONGEST_TIMEOUT } from '../../check-arguments.js'
import { ConfigError } from '../../errors.js'
import type { ClientOptions, Filed } from '../client-options.js'
import { placeIn } from './endpoint-of-file.js'
import { codecIn, javaCodecIn, nameMapperIn } from './java-classes.js'
import { tlsIn } from './tls-of-file.js'
import type { Tree } from './yaml-tree.js'
import { Values } from './field-values.js'
import type { Reading } from './use-warn-or-refuse.js'
import { plainMessage, plainText } from '../../plain-text.js'

/** The caller's options that affect how the file is read. */
export type Beside = Pick<ClientOptions, 'mapName' | 'nameMappers' | 'codec'>

/** Converts Redisson's fields to the settings that a URL and options would give. */
export const settingsOf = (documents: readonly Tree[], loose: boolean, file: string, beside: Beside): Filed => {
  const warnings: string[] = []
  const reading: Reading = { loose, warn: (at, what) => void warnings.push(plainMessage(`${at}: ${what}`)) }
  const root = documents.find(({ kind }) => kind !== 'nothing')
  if (root === undefined) throw new ConfigError(`${plainText(file, 300)} is empty`)
  const values = Values.of(root, reading)
  const options = optionsIn(values, reading, beside)
  const javaCodec = javaCodecIn(values, beside.codec)
  const place = placeIn(values)
  const tls = place.engine === 'redis' && place.endpoint.tls ? tlsIn(values, file) : {}
  const sharded = shardedIn(values)
  values.tellUnused()
  return { place, tls, options, javaCodec, sharded, warnings }
}

const optionsIn = (values: Values, reading: Reading, beside: Beside): Filed['options'] => {
  const timeout = values.ms('timeout', LONGEST_TIMEOUT)
  return {
    watchdog: values.ms('lockWatchdogTimeout', LONGEST_LEASE),
    fairWaiterTimeout: values.ms('fairLockWaitTimeout', LONGEST_TIMEOUT),
    connectTimeout: values.ms('connectTimeout', LONGEST_TIMEOUT),
    commandTimeout: timeout,
    codec: codecIn(values, reading, beside.codec),
    mapName: nameMapperIn(values, beside.nameMappers ?? {}, beside.mapName),
    replicas: replicasIn(values, reading, timeout ?? 3000),
  }
}

/** If the time limit for replicas is not below the one for replies, the caller would give up before the reply comes. */
const replicasIn = (values: Values, reading: Reading, commandTimeout: number): ClientOptions['replicas'] => {
  const timeout = values.ms('slavesSyncTimeout', LONGEST_TIMEOUT)
  const sync = values.flag('checkLockSyncedSlaves')
  if (timeout === undefined || timeout < commandTimeout) return { sync, timeout }
  reading.warn(values.at('slavesSyncTimeout'), 'slavesSyncTimeout is not used, because it is not below timeout')
  return { sync }
}

const shardedIn = (values: Values): boolean | undefined => {
  if (values.mode !== 'cluster') return undefined
  const mode = values.choice('shardedSubscriptionMode', ['AUTO', 'ON', 'OFF'])
  return mode === 'ON' || (mode === 'OFF' ? false : undefined)
}
