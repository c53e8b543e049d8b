import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

export const MAIN = fileURLToPath(new URL('../../../../dist/cli/main.js', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly error: string
}

export interface Surroundings {
  readonly url?: string | undefined
  /** What is typed when it asks. */
  readonly typed?: string | (() => Promise<string>)
  /** Of the terminal; undefined: it has none. */
  readonly columns?: number
  readonly env?: Readonly<Record<string, string>>
}

/** The script(1) of util-linux makes a terminal. */
export const TERMINAL =
  process.platform === 'linux' &&
  (spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '').includes('util-linux')

const quote = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`

/** `holdfast`, as a process; in a terminal, all of its output comes on stdout. */
export const holdfast = async (args: readonly string[], surroundings: Surroundings = {}): Promise<Ended> => {
  const { url = '', typed, columns, env } = surroundings
  const call = [process.execPath, MAIN, ...args]
  const line = `stty cols ${columns} rows 24; exec ${call.map(quote).join(' ')}`
  const [program = '', ...rest] = columns === undefined ? call : ['script', '-qefc', line, '/dev/null']
  const child = spawn(program, rest, {
    env: { ...process.env, HOLDFAST_URL: url, REDIS_URL: '', TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  // It may end before it has read.
  child.stdin.on('error', () => undefined)
  if (typed !== undefined) {
    let said = ''
    child.stdout.on('data', (data: Buffer) => {
      const asked = said.includes('[y/N]')
      said += data.toString()
      if (asked || !said.includes('[y/N]')) return
      if (typeof typed === 'string') child.stdin.write(typed)
      else void typed().then((answer) => child.stdin.write(answer))
    })
  }
  if (columns === undefined) child.stdin.end()
  const [out, error, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ])
  return { code, out, error }
}

export const linesOf = (out: string): string[] => out.split(/\r?\n/).filter((line) => line !== '')
