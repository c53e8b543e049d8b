import type { CommandContext } from '../command.js'
import type { Bytes, Reply } from '../reply.js'

type Line = readonly [name: string, value: string | number]

const sections: Readonly<Record<string, (context: CommandContext) => readonly Line[]>> = {
  Server: ({ server }) => [
    ['redis_version', '7.0.15'],
    ['redis_mode', 'standalone'],
    ['os', 'holdfast in memory'],
    ['arch_bits', 64],
    ['tcp_port', 0],
    ['server_time_usec', server.microseconds()],
    ['uptime_in_seconds', server.uptime],
    ['uptime_in_days', Math.floor(server.uptime / 86_400)],
  ],
  Clients: () => [['blocked_clients', 0]],
  Memory: ({ server }) => [
    ['number_of_cached_scripts', server.scripts.size],
    ['maxmemory', server.config.get('maxmemory') ?? 0],
    ['maxmemory_policy', server.config.get('maxmemory-policy') ?? 'noeviction'],
  ],
  Persistence: () => [
    ['loading', 0],
    ['async_loading', 0],
    ['rdb_changes_since_last_save', 0],
    ['rdb_bgsave_in_progress', 0],
    ['rdb_last_save_time', 0],
    ['rdb_last_bgsave_status', 'ok'],
    ['aof_enabled', 0],
    ['aof_rewrite_in_progress', 0],
    ['aof_last_bgrewrite_status', 'ok'],
    ['aof_last_write_status', 'ok'],
  ],
  Stats: ({ server: { pubsub } }) => [
    ['evicted_keys', 0],
    ['pubsub_channels', pubsub.channels(false).length],
    ['pubsub_patterns', pubsub.patterns],
    ['pubsubshard_channels', pubsub.channels(true).length],
  ],
  Replication: () => [
    ['role', 'master'],
    ['connected_slaves', 0],
    ['master_failover_state', 'no-failover'],
    ['master_repl_offset', 0],
  ],
  Cluster: () => [['cluster_enabled', 0]],
  Keyspace: ({ database }) =>
    database.size === 0 ? [] : [['db0', `keys=${database.size},expires=${database.expiring},avg_ttl=0`]],
}

export const info = (argv: readonly Bytes[], context: CommandContext): Reply => {
  const wanted = new Set(argv.slice(1).map((name) => name.toLowerCase()))
  const all = wanted.size === 0 || ['all', 'default', 'everything'].some((name) => wanted.has(name))
  const parts: string[] = []
  for (const [name, lines] of Object.entries(sections)) {
    if (!all && !wanted.has(name.toLowerCase())) continue
    const text = lines(context).map(([key, value]) => `${key}:${value}\r\n`)
    parts.push(`# ${name}\r\n${text.join('')}`)
  }
  return parts.join('\r\n')
}
