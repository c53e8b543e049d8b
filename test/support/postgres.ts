import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { postgresPrograms } from '../../scripts/test/postgres.mjs'
import { freePort } from './redis-server.js'

const run = promisify(execFile)

export interface PostgresServer {
  readonly url: string
  stop(): Promise<void>
}

/** It refuses to run as root. */
const someUser = async (): Promise<{ uid: number; gid: number } | undefined> => {
  if (process.getuid?.() !== 0) return undefined
  const ids = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, 'postgres'])))
  const [uid, gid] = ids.map(({ stdout }) => Number(stdout)) as [number, number]
  return { uid, gid }
}

/** A server of its own on a free port, or the reason why there is none. */
export const startPostgres = async (): Promise<PostgresServer | string> => {
  const programs = postgresPrograms()
  if (programs === undefined) return 'no postgres on the PATH'
  const user = await someUser()
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-postgres-'))
  if (user !== undefined) await chown(directory, user.uid, user.gid)
  const data = join(directory, 'data')
  const cwd = directory
  await run(join(programs, 'initdb'), ['-D', data, '-U', 'holdfast', '-A', 'trust', '-N'], { ...user, cwd })
  const port = await freePort()
  const settings = ['-D', data, '-k', directory, '-h', '127.0.0.1', '-p', String(port), '-F']
  const server = spawn(join(programs, 'postgres'), settings, { ...user, cwd, stdio: ['ignore', 'ignore', 'pipe'] })
  const kill = (): void => void server.kill('SIGQUIT')
  process.once('exit', kill)
  const ended = once(server, 'exit')
  let said = ''
  server.stderr.on('data', (text: Buffer) => (said += text.toString()))
  for (let wait = 0; !said.includes('ready to accept connections'); wait += 1) {
    assert.ok(wait < 600 && server.exitCode === null, `postgres does not start: ${said}`)
    await sleep(50)
  }
  return {
    url: `postgres://holdfast@127.0.0.1:${port}/postgres`,
    async stop() {
      process.off('exit', kill)
      kill()
      await ended
      await rm(directory, { recursive: true, force: true })
    },
  }
}
