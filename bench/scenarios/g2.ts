import type { Bench, Scenario } from '../measure/bench.js'
import { manyClients, mostClients } from '../measure/many-clients.js'
import { type Figures, type Row, type Target, format, inEveryRow, medians } from '../base/result.js'
import { versionOf } from '../base/paths.js'
import { HOLD, LOCKS, type Who } from '../processes/clients-plan.js'

const SIZES = [1000, 10_000]
const QUICK_SIZES = [200]

const chosen = ({ quick, only }: Bench): readonly number[] =>
  only === undefined ? (quick ? QUICK_SIZES : SIZES) : SIZES.filter((size) => format(size, 0).startsWith(only))

const participants: Readonly<Record<Who, Pick<Row, 'participant' | 'family' | 'version'>>> = {
  holdfast: { participant: 'holdfast', family: 'holdfast', version: versionOf('.') ?? '' },
  bare: { participant: 'ioredis alone', family: 'floor', version: versionOf('node_modules/ioredis') ?? '' },
}

const rowOf = (name: string, who: Who, figures: Figures): Row => {
  const row = participants[who]
  return { ...row, participant: `${name}: ${row.participant}`, ...medians([figures]) }
}

const measure = async ({ quick }: Bench, who: Who, wanted: number): Promise<Row[]> => {
  const clients = mostClients(wanted)
  const times = quick ? { seconds: 1, after: 3 } : { seconds: 10, after: 12 }
  const { connected, own, shared } = await manyClients({ who, clients, ...times })
  const named = (what: string, figures: Figures): Row => rowOf(`${format(clients, 0)} clients${what}`, who, figures)
  const first = named(' connect', { ...connected, connect: connected['clientCpu']! / 1000 })
  // A connection that does nothing is the same in both.
  return who === 'bare'
    ? [first, named(', idle', own)]
    : [first, named(', a lock each', own), named(` on ${LOCKS} locks`, shared)]
}

interface Limit {
  readonly key: string
  readonly limit: number
  readonly unit: string
}

const limited = (text: string, rows: readonly Row[], { key, limit, unit }: Limit): Target =>
  inEveryRow(
    text,
    rows.filter(({ family, cells }) => family === 'holdfast' && cells[key] !== undefined),
    { off: ({ cells }) => cells[key]!, limit, shown: ({ cells }) => `${format(cells[key]!, 1)}${unit}` },
  )

export const g2: Scenario = {
  id: 'g2',
  title: 'G2: thousands of clients on one server, and its restart',
  about: {
    measures:
      '1,000 and 10,000 clients of holdfast in 8 processes, each with connections of its own; of 10,000 as many as the limit of open files allows, which the row says. ' +
      'They connect, which the first row shows; then each holds a lock of its own; then all take turns on ' +
      `${LOCKS} locks, ${HOLD} ms each. *Client* and *server* are µs of CPU for each client: for connecting in the first row, in a second in the others. *Requests* and *commands* are for each client, too. ` +
      '*Heap* is kB of a client in its process, sockets not counted,, *server* kB on the server. In both states the server is killed (SIGKILL) with all that it knew, and started again a second later. *Over* is when all clients are ' +
      'connected and each lock has been granted again, *worst* how many requests a client has sent in the worst of the seconds after the start, *mean* in all of them. *Connections* is how many a client has opened since then.',
    differs: 'holdfast alone; and bare connections of ioredis, which show what no client on it can save.',
    misleads:
      'Clients in one process start and run their code together: one client in each process needs the memory of Node besides. All processes and the server share the ' +
      'cores, so with 10,000 clients they also wait for each other. The server starts without data, so all scripts have to be sent to it again and all holds are lost, ' +
      'as after a loss of its memory; a restart that keeps the data asks for less.',
  },
  needsServer: true,
  rounds: 1,
  async run(bench) {
    const rows: Row[] = []
    for (const clients of chosen(bench)) {
      for (const who of ['holdfast', 'bare'] as const) {
        bench.log(`  ${format(clients, 0)} clients, ${who}`)
        rows.push(...(await measure(bench, who, clients)))
      }
    }
    return {
      columns: [
        { key: 'connect', title: 'connect: CPU ms', digits: 2 },
        { key: 'clientCpu', title: 'client µs', digits: 0 },
        { key: 'serverCpu', title: 'server µs', digits: 0 },
        { key: 'requests', title: 'requests', digits: 2 },
        { key: 'commands', title: 'commands', digits: 1 },
        { key: 'heap', title: 'heap kB', digits: 1 },
        { key: 'serverMemory', title: 'server kB', digits: 1 },
        { key: 'over', title: 'restart: over s', digits: 1 },
        { key: 'worst', title: 'worst', digits: 2 },
        { key: 'mean', title: 'mean', digits: 2 },
        { key: 'afterwards', title: 'commands', digits: 1 },
        { key: 'connections', title: 'connections', digits: 2 },
      ],
      rows,
      targets: [
        limited('connect ≤ 5 ms of CPU', rows, { key: 'connect', limit: 5, unit: ' ms' }),
        limited('a restart is over within 10 s', rows, { key: 'over', limit: 10, unit: ' s' }),
        limited('≤ 5 requests of a client in the worst second after it', rows, { key: 'worst', limit: 5, unit: '' }),
      ],
    }
  },
}
