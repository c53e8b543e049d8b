import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Packages for these tests alone; the scripts that run them install those. */
const FOLDER = new URL('../../../test/suites/connections/packages/', import.meta.url)

const absent = (what: string): Error =>
  Object.assign(new Error(`no ${what}: npm run test:connections installs it`), { code: 'ABSENT' })

export interface Glide {
  readonly GlideClient: { createClient(options: object): Promise<{ close(): void }> }
  readonly GlideClusterClient: { readonly prototype: object }
  readonly Logger: { setLoggerConfig(level: 'off'): void }
}

export const requireGlide = (): Glide => {
  try {
    const glide = createRequire(new URL('package.json', FOLDER))('@valkey/valkey-glide') as Glide
    // It tells of each error of the server, also of those that are expected.
    glide.Logger.setLoggerConfig('off')
    return glide
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'MODULE_NOT_FOUND') throw error
    throw absent('Valkey GLIDE')
  }
}

/** A server newer than the system's; `scripts/test/servers.mjs` unpacks them. */
export const newerServer = (name: 'valkey-server' | 'redis-server'): string => {
  const program = fileURLToPath(new URL(`../../../node_modules/.cache/holdfast/servers/${name}`, import.meta.url))
  if (!existsSync(program)) throw absent(`newer ${name}`)
  return program
}

const suffix = `${process.platform}-${process.arch}`
const libc = process.platform === 'linux' ? '-glibc' : ''
const cpu = process.arch === 'arm64' ? 'aarch64' : process.arch

/** Where npm puts each; the packages' own scripts, which would copy it, are not run. */
const RUNTIMES = {
  bun: `@oven/bun-${process.platform}-${cpu}/bin/bun`,
  deno: `@deno/${suffix}${libc}/deno`,
  'the newest Node': `node-${suffix}/bin/node`,
} as const

export type Runtime = keyof typeof RUNTIMES

/** Undefined: not for this machine, or not installed. */
export const findRuntime = (name: Runtime): string | undefined => {
  const program = fileURLToPath(new URL(`node_modules/${RUNTIMES[name]}`, FOLDER))
  return existsSync(program) ? program : undefined
}
