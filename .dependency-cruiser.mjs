/**
 * The rooms of the library, from the ground up: each may use those before it, and no other. `npm run rooms` draws them.
 * Types count: an import of a type is an arrow, too.
 */
const ROOMS = [
  ['api', '^src/api/'],
  ['errors', String.raw`^src/(errors|did-you-mean|plain-text|thrown|away-or-refusing)\.ts$`],
  ['base', '^src/base/'],
  ['options', String.raw`^src/(check-arguments|keys|script-times-and-limits)\.ts$`],
  ['codecs', '^src/codecs/'],
  ['lua', '^src/lua/'],
  ['engine', '^src/engine/'],
  ['protocol', '^src/core/protocol/'],
  ['server', '^src/core/server/'],
  ['hold', '^src/core/hold/'],
  ['client', '^src/core/client/'],
  ['waiting', '^src/core/waiting/'],
  ['line', '^src/core/line/'],
  ['shared', '^src/core/shared/'],
  ['gate', '^src/core/gate/'],
  ['listing', '^src/core/listing/'],
  ['sync', '^src/sync/'],
  ['config', '^src/config/'],
  ['client.ts', String.raw`^src/(client|closing|probe)\.ts$`],
  ['top', String.raw`^src/(index|connect|open|retry-connect|node)\.ts$`],
]

/** The rooms of the benchmark, in the same way. */
const BENCH = [
  ['base', '^bench/base/'],
  ['participants', String.raw`^bench/participants(/|\.ts$)`],
  ['processes', '^bench/processes/'],
  ['measure', '^bench/measure/'],
  ['scenarios', String.raw`^bench/scenarios(/|\.ts$)`],
  ['output', '^bench/output/'],
  ['command', String.raw`^bench/(main|guard|beside)\.ts$`],
]

/** Whoever uses the library only: what of it they may know. */
const USERS = [
  ['http', '^src/http/', String.raw`^src/(http/|api/|base/clock\.ts|[^/]+\.ts$)`],
  [
    'nest',
    '^src/nest/',
    String.raw`^src/(nest/|schedule/cron\.ts|api/|base/(clock|time-limit)\.ts|config/client-options\.ts|[^/]+\.ts$)`,
  ],
  [
    'dashboard',
    '^src/dashboard/',
    String.raw`^src/(dashboard/|api/|base/clock\.ts|cli/(locks/|server-(clock|version)|text/time-span|tree/wait-forest)|schedule/cron\.ts|[^/]+\.ts$)`,
  ],
  ['schedule', '^src/schedule/', String.raw`^src/(schedule/|api/|base/clock\.ts|[^/]+\.ts$)`],
  ['telemetry', '^src/telemetry/', String.raw`^src/(telemetry/|api/|base/clock\.ts|[^/]+\.ts$)`],
  [
    'cli',
    '^src/cli/',
    String.raw`^src/(cli/|dashboard/|api/|base/(clock|glob)\.ts|config/|engine/(memory/|endpoint\.ts)|[^/]+\.ts$)`,
  ],
]

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
    ...ROOMS.map(([name, path], floor) => ({
      name: `${name}-looks-down`,
      severity: 'error',
      from: { path },
      to: {
        path: [
          ...ROOMS.slice(floor + 1).map(([, other]) => other),
          ...USERS.map(([, other]) => other),
          '^src/testing/',
        ],
      },
    })),
    {
      name: 'drivers-are-loaded-late',
      severity: 'error',
      from: { path: String.raw`^src/(core|sync|(client|closing)\.ts)` },
      to: { path: '^src/engine/(memory|ioredis|node-redis|glide)' },
    },
    {
      name: 'kinds-see-the-seam',
      severity: 'error',
      from: { path: '^src/sync/' },
      to: { path: String.raw`^src/engine/(?!driver\.ts$)` },
    },
    ...BENCH.slice(0, -1).map(([name, path], floor) => ({
      name: `bench-${name}-looks-down`,
      severity: 'error',
      from: { path },
      to: { path: BENCH.slice(floor + 1).map(([, other]) => other) },
    })),
    ...USERS.map(([name, path, known]) => ({
      name: `${name}-uses-the-library`,
      severity: 'error',
      from: { path },
      to: { path: '^src/', pathNot: known },
    })),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
  },
}
