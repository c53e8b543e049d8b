import assert from 'node:assert/strict'
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Client, connect } from 'holdfast'
import { redisEngine, started } from '../../support/engines.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'
import { until } from '../../support/until.js'

export const root = fileURLToPath(new URL('../../../../', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly signal: string | null
}

/** For what a process of its own does: on a machine with much else to do, its start alone can take half a minute. */
export const soon = (condition: () => Promise<boolean> | boolean): Promise<void> => until(condition, 120_000)

/** A program of a page, as a process of its own. */
export interface Running {
  readonly pid: number
  readonly ended: Promise<Ended>
  /** What it has written to stdout and stderr. */
  text(): string
  /** Waits for a line; rejects if the process ends without it. */
  said(line: RegExp): Promise<RegExpExecArray>
  write(text: string): void
  kill(signal: NodeJS.Signals): void
}

/** A server, a client that looks at it, and a folder with the programs of one page. */
export interface Recipe {
  readonly server: RedisServer
  readonly client: Client
  readonly folder: string
  start(program: string, args?: readonly string[], env?: Readonly<Record<string, string>>): Running
}

/** The blocks of a page that say in their first lines which file they are. */
export const programsOf = async (page: string): Promise<Map<string, string>> => {
  const text = await readFile(join(root, 'docs/recipes', page), 'utf8')
  const programs = new Map<string, string>()
  for (const [, code = ''] of text.matchAll(/^```\w+\n(.*?)^```$/gms)) {
    const file = /^(?:#!.*\n)?(?:\/\/|#) ([\w-]+\.(?:mjs|java|sh))\b/.exec(code)?.[1]
    if (file !== undefined) programs.set(file, code)
  }
  return programs
}

const RUNNERS: Readonly<Record<string, string>> = { mjs: process.execPath, sh: '/bin/sh', java: 'java' }

const runProgram = (folder: string, file: string, args: readonly string[], env: NodeJS.ProcessEnv): Running => {
  const runner = RUNNERS[file.slice(file.lastIndexOf('.') + 1)] ?? ''
  return watched(spawn(runner, [join(folder, file), ...args], { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] }))
}

const watched = (child: ChildProcessWithoutNullStreams): Running => {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (text += data.toString()))
  const ended = new Promise<Ended>((resolve) =>
    child.once('close', (code, signal) => {
      resolve({ code, signal })
    }),
  )
  let over = false
  void ended.then(() => (over = true))
  return {
    pid: child.pid ?? 0,
    ended,
    text: () => text,
    write: (text) => void child.stdin.write(text),
    kill: (signal) => void child.kill(signal),
    async said(line) {
      await soon(() => line.test(text) || over).catch(() => undefined)
      const found = line.exec(text)
      assert.ok(found, `${over ? 'it ended' : 'too long'} without ${String(line)}: ${text}`)
      return found
    },
  }
}

/** Everything that a test of a page needs, until the test is over; undefined, and the test is skipped, where there is no Redis. */
export const recipe = async (t: TestContext, page: string): Promise<Recipe | undefined> => {
  let server: RedisServer | undefined
  const skip = await started({ ...redisEngine, start: async () => void (server = await startRedis()) })
  if (server === undefined) {
    t.skip(skip)
    return undefined
  }
  const { url, stop } = server
  // Beside the compiled tests, so that the packages are found by their names.
  const folder = await mkdtemp(join(root, '.build/recipe-'))
  for (const [file, code] of await programsOf(page)) {
    await writeFile(join(folder, file), code)
    await chmod(join(folder, file), 0o755)
  }
  const client = await connect({ url, presence: false })
  const all: Running[] = []
  t.after(async () => {
    for (const running of all) running.kill('SIGKILL')
    await client.close()
    await Promise.all(all.map(({ ended }) => ended))
    await stop()
    await rm(folder, { recursive: true, force: true })
  })
  const start: Recipe['start'] = (program, args = [], env = {}) => {
    const running = runProgram(folder, program, args, { ...process.env, HOLDFAST_URL: url, ...env })
    all.push(running)
    return running
  }
  return { server, client, folder, start }
}

/** How often something was said, by all of them. */
export const count = (all: readonly Running[], line: RegExp): number =>
  all.reduce((sum, running) => sum + [...running.text().matchAll(new RegExp(line, 'g'))].length, 0)

/** That all of them end, and with code 0. */
export const allWell = async (all: readonly Running[]): Promise<void> => {
  const ends = await Promise.all(all.map(({ ended }) => ended))
  assert.deepEqual(
    ends,
    all.map(() => ({ code: 0, signal: null })),
    all.map((running) => running.text()).join('\n'),
  )
}

/** The first of them that said it. */
export const firstToSay = async (all: readonly Running[], line: RegExp): Promise<Running> => {
  await soon(() => all.some((running) => line.test(running.text())))
  return all.find((running) => line.test(running.text()))!
}
