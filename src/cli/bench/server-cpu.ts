import type { Client } from '../../api/client.js'
import { EngineError } from '../../errors.js'
import { isA } from '../../thrown.js'
import type { ServerCpu } from './measure.js'

const numberIn = (info: string, field: string): number | undefined => {
  const [, value] = new RegExp(`^${field}:([\\d.]+)\\r?$`, 'm').exec(info) ?? []
  return value === undefined ? undefined : Number(value)
}

/** Reads the CPU time of the server's main thread. A cluster has several servers, and this would ask only one. */
export const serverCpuOf = (client: Client): ServerCpu => {
  const script = client.script("return redis.call('INFO', 'all')", { readOnly: true })
  return async () => {
    try {
      const info = (await script.run({ returns: 'status' })) ?? ''
      if (numberIn(info, 'cluster_enabled') === 1) return undefined
      const user = numberIn(info, 'used_cpu_user_main_thread') ?? numberIn(info, 'used_cpu_user')
      const system = numberIn(info, 'used_cpu_sys_main_thread') ?? numberIn(info, 'used_cpu_sys')
      return user === undefined || system === undefined ? undefined : (user + system) * 1_000_000
    } catch (error) {
      // A user who may not call INFO, or a server that does not let a script call it.
      if (isA(error, EngineError) && (error.code === 'NOPERM' || error.code === 'SERVER')) return undefined
      throw error
    }
  }
}
