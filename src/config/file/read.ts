import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { ConfigError } from '../../errors.js'
import { LONGEST_LEASE, LONGEST_TIMEOUT } from '../../options.js'
import { codecIn, javaCodecIn, nameMapperIn } from './java.js'
import { placeIn } from './place.js'
import { type Environment, REDISSON, SPRING } from './placeholders.js'
import { isSpring, springIn } from './spring.js'
import { tlsIn } from './tls.js'
import { Source, type Tree } from './tree.js'
import { type Reading, Values } from './values.js'
import type { ClientOptions, Filed } from '../client-options.js'

/** What the caller says beside the file, where it bears on how the file is read. */
type Beside = Pick<ClientOptions, 'mapName' | 'nameMappers' | 'codec'>

/** Redisson's YAML or JSON, or Spring's application.yml that holds it or names it. */
export const readConfig = async (file: string, env: Environment, beside: Beside = {}): Promise<Filed> => {
  const path = resolve(file)
  const text = await contentOf(path, file)
  const documents = new Source(file, text, env, REDISSON).documents()
  if (!isSpring(documents)) return settingsOf(documents, false, path, beside)
  // Placeholders have another form there.
  const source = new Source(file, text, env, SPRING)
  const spring = springIn(source, source.documents(), path)
  if ('config' in spring) return settingsOf([spring.config], spring.loose, path, beside)
  const inner = await contentOf(spring.path, spring.path)
  return settingsOf(new Source(spring.path, inner, env, REDISSON).documents(), false, spring.path, beside)
}

const contentOf = async (path: string, shown: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new ConfigError(`${shown} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'no such file'}`)
  }
}

const settingsOf = (documents: readonly Tree[], loose: boolean, file: string, beside: Beside): Filed => {
  const warnings: string[] = []
  const reading: Reading = { loose, warn: (at, what) => void warnings.push(`${at}: ${what}`) }
  const root = documents.find(({ kind }) => kind !== 'nothing')
  if (root === undefined) throw new ConfigError(`${file} is empty`)
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

/** Whoever waits longer for replicas than for an answer would give up before it comes. */
const replicasIn = (values: Values, reading: Reading, commandTimeout: number): ClientOptions['replicas'] => {
  const timeout = values.ms('slavesSyncTimeout', LONGEST_TIMEOUT)
  const sync = values.flag('checkLockSyncedSlaves')
  if (timeout === undefined || timeout < commandTimeout) return { sync, timeout }
  reading.warn(values.at('slavesSyncTimeout'), 'slavesSyncTimeout is not used: it is not below timeout')
  return { sync }
}

const shardedIn = (values: Values): boolean | undefined => {
  if (values.mode !== 'cluster') return undefined
  const mode = values.choice('shardedSubscriptionMode', ['AUTO', 'ON', 'OFF'])
  return mode === 'ON' || (mode === 'OFF' ? false : undefined)
}
