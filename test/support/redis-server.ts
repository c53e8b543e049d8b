import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface RedisServer {
  readonly port: number
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

export const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** A server of its own on a free port, without persistence. Rejects with code `NO_REDIS` when there is none to start. */
export const startRedis = async (
  args: readonly string[] = [],
  program?: string,
  env?: Readonly<Record<string, string>>,
): Promise<RedisServer> => {
  return onFreePort(() => start(args, program, env))
}

const ENDED = 'REDIS_ENDED'

/** Between the look and the start, another process may take the port; a given one, a connection of somebody's may have for a moment. */
const onFreePort = async (begin: () => Promise<RedisServer>): Promise<RedisServer> => {
  for (let tries = 1; ; tries++) {
    try {
      return await begin()
    } catch (error) {
      if ((error as { code?: unknown }).code !== ENDED || tries === 5) throw error
      await sleep(100)
    }
  }
}

const start = async (
  args: readonly string[],
  program?: string,
  env?: Readonly<Record<string, string>>,
): Promise<RedisServer> => {
  const given = args.indexOf('--port')
  const port = given === -1 ? await freePort() : Number(args[given + 1])
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-redis-'))
  const settings = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    directory,
    '--save',
    '',
    '--appendonly',
    'no',
    // Without one of its own for the bus a node takes its port plus 10,000, which may be none.
    ...(args.includes('--cluster-enabled') && !args.includes('--cluster-port')
      ? ['--cluster-port', String(await freePort())]
      : []),
  ]
  return launch([...settings, ...args], port, directory, program, env)
}

/** One that watches a master, with two more to agree with; `settings` are lines of its file. */
export const startSentinel = (settings: readonly string[]): Promise<RedisServer> =>
  onFreePort(async () => {
    const port = await freePort()
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-sentinel-'))
    const file = join(directory, 'sentinel.conf')
    await writeFile(file, [`port ${port}`, 'bind 127.0.0.1', `dir ${directory}`, ...settings, ''].join('\n'))
    return launch([file, '--sentinel'], port, directory)
  })

/** What it logs once it listens; it may still load its data. That something answers at its port does not say so: that may be the server of another test. */
const LISTENS = /Server initialized|Sentinel ID is/i

/** Ends when this process does; its directory goes with it. */
const launch = async (
  argv: readonly string[],
  port: number,
  directory: string,
  program = 'redis-server',
  env: Readonly<Record<string, string>> = {},
): Promise<RedisServer> => {
  // A file: a pipe that nobody reads for a while would keep the server waiting.
  const log = join(directory, 'log')
  const logged = await open(log, 'a')
  const server = spawn(program, argv, { stdio: ['ignore', logged.fd, 'ignore'], env: { ...process.env, ...env } })
  await logged.close()
  const kill = (): void => void server.kill('SIGKILL')
  process.once('exit', kill)
  const ended = new Promise<void>((resolve) => server.once('close', () => resolve()))
  const failed = new Promise<never>((_, reject) => {
    server.once('error', (cause) => {
      reject(Object.assign(new Error('redis-server is not on the PATH', { cause }), { code: 'NO_REDIS' }))
    })
    server.once('exit', (code) => {
      reject(Object.assign(new Error(`redis-server ended with ${code}`), { code: ENDED }))
    })
  })
  failed.catch(() => undefined)
  let over = false
  const ready = async (): Promise<void> => {
    const end = Date.now() + 20_000
    while (!over && !LISTENS.test(await readFile(log, 'utf8'))) {
      if (Date.now() > end) throw new Error('redis-server does not say that it listens')
      await sleep(20)
    }
  }
  const stop = async (): Promise<void> => {
    process.off('exit', kill)
    server.kill('SIGKILL')
    await ended
    await rm(directory, { recursive: true, force: true })
  }
  try {
    await Promise.race([ready(), failed])
  } catch (error) {
    over = true
    process.off('exit', kill)
    server.kill('SIGKILL')
    await rm(directory, { recursive: true, force: true })
    throw error
  }
  return { port, url: `redis://127.0.0.1:${port}`, pid: server.pid ?? 0, stop }
}
