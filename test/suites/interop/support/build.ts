import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const INTEROP = fileURLToPath(new URL('../../../../../interop/', import.meta.url))
const JAVA = join(INTEROP, 'java')
const TARGET = join(JAVA, 'target')

const pom = readFileSync(join(JAVA, 'pom.xml'), 'utf8')

/** The newest Redisson, as the pom has it. */
export const NEWEST = /<redisson\.version>([^<]+)</.exec(pom)?.[1] ?? ''

/** All that something is compared with. */
export const VERSIONS = [NEWEST, '3.17.7', '3.16.8', '3.8.1']

const noJava = (message: string, cause?: unknown): Error =>
  Object.assign(new Error(`no Java: ${message}`, { cause }), { code: 'NO_JAVA' })

/** Runs a program to its end, and says what it said. */
const run = async (program: string, args: readonly string[]): Promise<{ code: number | null; said: string }> => {
  const child = spawn(program, args, { cwd: JAVA, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stdout.on('data', (data: Buffer) => (said += String(data)))
  child.stderr.on('data', (data: Buffer) => (said += String(data)))
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => {
      reject(noJava(`${program} is not on the PATH; the tests beside Redisson need JDK 17 or newer, and Maven`, cause))
    })
    child.once('close', (code) => {
      resolve({ code, said })
    })
  })
}

const maven = async (version: string): Promise<void> => {
  const args = ['-q', '-B', `-Dredisson.version=${version}`, 'compiler:compile', 'dependency:copy-dependencies']
  if ((await run('mvn', ['-o', ...args])).code === 0) return
  const { code, said } = await run('mvn', args)
  if (code === 0) return
  if (/Could not (transfer|resolve)|could not be resolved/i.test(said)) {
    throw noJava(`Maven cannot fetch what Redisson ${version} needs\n${said.slice(0, 2000)}`)
  }
  throw new Error(`mvn ${args.join(' ')} failed\n${said.slice(-4000)}`)
}

const sourcesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.java'))
    .sort()
    .map((file) => join(folder, file))

const stampOf = (version: string): string => {
  const hash = createHash('sha256').update(version).update(pom)
  for (const file of sourcesOf(join(JAVA, 'src'))) hash.update(readFileSync(file))
  return hash.digest('hex')
}

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** One build at a time on this machine, since all fill the same local repository. */
const alone = async (work: () => Promise<void>): Promise<void> => {
  const mark = join(TARGET, 'building')
  mkdirSync(TARGET, { recursive: true })
  for (;;) {
    try {
      writeFileSync(mark, String(process.pid), { flag: 'wx' })
      break
    } catch {
      const builder = existsSync(mark) ? Number(readFileSync(mark, 'utf8')) : 0
      if (builder > 0 && !alive(builder)) rmSync(mark, { force: true })
      else await sleep(200)
    }
  }
  try {
    await work()
  } finally {
    rmSync(mark, { force: true })
  }
}

/** Whether the driver is there with that version, of these sources. */
export const isBuilt = (version: string): boolean => {
  const stamp = join(TARGET, version, 'stamp')
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === stampOf(version)
}

/** The class path of the driver with that version of Redisson; built when it is not, or not of these sources. */
export const buildDriver = async (version: string): Promise<string> => {
  const folder = join(TARGET, version)
  if (!isBuilt(version)) {
    await run('java', ['-version'])
    await alone(async () => {
      if (isBuilt(version)) return
      rmSync(folder, { recursive: true, force: true })
      await maven(version)
      writeFileSync(join(folder, 'stamp'), stampOf(version))
    })
  }
  return `${join(folder, 'classes')}:${join(folder, 'lib', '*')}`
}
