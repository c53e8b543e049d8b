import { execFile, execFileSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** What the programs of the tests are made of. */
const PROGRAMS = ['test/support', 'test/suites/soak']

/** The newest tag before this commit; undefined where there is none, or no repository. */
export const lastTag = (): string | undefined => {
  try {
    const stdio = ['ignore', 'pipe', 'ignore'] as const
    return execFileSync('git', ['describe', '--tags', '--abbrev=0'], { encoding: 'utf8', stdio: [...stdio] }).trim()
  } catch {
    return undefined
  }
}

export interface OtherBuild {
  /** The same program as here, which finds the other build by the package's name. */
  program(name: string): string
  remove(): Promise<void>
}

/** That of a tag, made anew; without one a copy of this one. */
export const otherBuild = async (tag: string | undefined): Promise<OtherBuild> => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-other-'))
  if (tag === undefined) {
    for (const part of ['package.json', 'dist']) await cp(part, join(folder, part), { recursive: true })
    await symlink(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  } else {
    const archive = join(folder, 'tag.tar')
    await run('git', ['archive', '--output', archive, tag])
    await run('tar', ['-xf', archive, '-C', folder])
    const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env
    await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, env })
    await run(process.execPath, ['scripts/build.mjs'], { cwd: folder, env })
  }
  for (const part of PROGRAMS) {
    await mkdir(join(folder, '.build/test'), { recursive: true })
    await cp(join('.build', part), join(folder, '.build', part), { recursive: true })
  }
  return {
    program: (name) => join(folder, '.build/test/support', name),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
