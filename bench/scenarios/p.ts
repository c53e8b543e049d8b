import type { Row } from '../base/result.js'
import type { Scenario } from '../measure/bench.js'
import { POLLS, measured } from './p/measured.js'
import { targetsOf } from './p/targets.js'
import { trialsOf } from './p/trials.js'

/** A trial that has begun takes minutes at most. */
const LIMIT = { usual: 37 * 60_000, quick: 3.5 * 60_000 }

export const p: Scenario = {
  id: 'p',
  title: 'P: one caller in each process, asking again at once',
  headline: {
    what: 'visits/s',
    key: 'rate',
    digits: 0,
    of: 'lock, 16 clients, 5 ms: ',
  },
  about: {
    measures:
      'How most services use a lock: a worker, a cron job or a request in each process, each with one caller that wants the lock again ' +
      'and again. Up to 64 clients have a process each; 256 and 1,024 are in 8 processes, each caller with a client and connections of its own. ' +
      'Each size is measured with a hold of 5 ms, and holds of 0 and 20 ms with 16 clients (20 ms of the lock with 64, too); the fair lock stands beside ' +
      'the plain kinds for reference. ' +
      'The ratio is to 1 / (measured hold + one measured round trip), times two for a semaphore of 2; for a limiter to its rate. ' +
      '*Least* and *most* are the visits of the callers that were served least and most often; *share* is least ÷ most, with the one visit that the end of the ' +
      'time may have cut off. *Longest* is the longest wait, of those that had begun before or never ended, too; *due* is what first come, first served would give: ' +
      'the number of clients × (hold + trip), ÷ 2 for a semaphore of 2, at its rate for a limiter, and at the rate of its own row where nothing is held. ' +
      '*Scripts*, *requests* and *commands* are for each visit. That nobody is inside together is checked by the one clock of the machine; a limiter ' +
      'keeps nobody out, and is checked for granting no more than its rate.',
    differs:
      `All defaults, but of those that poll: redis-semaphore and both redlocks ask again after half a ms for each client that there is, 2 ms with ` +
      `4 clients and 512 ms with 1,024, with a jitter of half of that in the redlocks, as by default. That makes ${POLLS} polls in each ms in all, with which they had ` +
      'most visits when it was tried: a lock is idle for a fraction of a ms, and who has it has a core. All callers of Node begin spread over as long, or they would poll in step. They keep no order. Redisson’s callers are threads of 4 processes, ' +
      'and so share 4 clients: fewer clients than all others have. rueidislock is told by the server when a key has changed. Only Redisson has a read-write lock, a limiter and ' +
      'a fair lock, only Redisson and redis-semaphore a semaphore.',
    misleads:
      'Two cores run all processes: with 64 of them a part of what a hand-over takes is the wait for a core, alike for all. Who polls pays with CPU, ' +
      'which stands beside it. A longest wait cannot be longer than the run: 5 to 16 s count. With 1,024 clients each has only a few visits, and the shares are coarse. ' +
      'Without a hold, who has just given back a lock has the best chance to have it again: many visits, all of them of one caller. ' +
      'From 64 to 256 clients the processes become fewer: the CPU of a visit falls with what it takes to wake them. One round, and its figures.',
  },
  needsServer: true,
  rounds: 1,
  async run(bench) {
    const trials = trialsOf(bench)
    const until = performance.now() + LIMIT[bench.quick ? 'quick' : 'usual']
    const rows: Row[] = []
    for (const one of trials) rows.push(...(await measured(bench, one, { until })))
    return {
      columns: [
        { key: 'rate', title: 'visits/s', digits: 0 },
        { key: 'ratio', title: '× ideal', digits: 2 },
        { key: 'scripts', title: 'scripts', digits: 2 },
        { key: 'requests', title: 'requests', digits: 2 },
        { key: 'commands', title: 'commands', digits: 1 },
        { key: 'serverCpu', title: 'server µs', digits: 0 },
        { key: 'clientCpu', title: 'client µs', digits: 0 },
        { key: 'least', title: 'least', digits: 0 },
        { key: 'most', title: 'most', digits: 0 },
        { key: 'share', title: 'share', digits: 2 },
        { key: 'p50', title: 'wait p50 ms', digits: 1 },
        { key: 'p99', title: 'p99', digits: 1 },
        { key: 'longest', title: 'longest', digits: 0 },
        { key: 'due', title: 'due', digits: 0 },
        { key: 'late', title: '× due', digits: 2 },
      ],
      rows,
      targets: targetsOf(rows, trials),
    }
  },
}
