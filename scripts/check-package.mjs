#!/usr/bin/env node
// @ts-check
/** What npm would publish, seen by those who install it: packed, installed elsewhere, imported, run and compiled against. */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { npm } from './install.mjs'
import { isMain } from './is-main.mjs'
import { stage } from './stage.mjs'
import { callTool, root, runParts, Skip, summarize } from './test/parts.mjs'

const PUBLISHED =
  /^(dist\/.+(\.c?js|\.d\.c?ts)|(docs|examples)\/.+|man\/holdfast\.1|package\.json|(README|ARCHITECTURE|CONTRIBUTING|CHANGELOG|SECURITY)\.md|LICENSE|NOTICE)$/
const MOST_BYTES = 7_000_000
const MOST_PACKAGES = 20
const TIME_TO_ANSWER = 60_000
const MOST_LINES = 12

const DEVELOPMENT = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).devDependencies

/** The oldest compiler that we promise, and the newest there is. */
const COMPILERS = {
  'typescript-oldest': 'npm:typescript@5.2.2',
  'typescript-5.9': 'npm:typescript@5.9.3',
  'typescript-newest': 'npm:typescript@7.0.2',
}
/** Whose types the middleware must fit; they need newer compilers than we do. */
const FRAMEWORKS = {
  '@types/express': '5.0.6',
  '@types/express4': 'npm:@types/express@4.17.25',
  fastify: DEVELOPMENT['fastify'],
  hono: DEVELOPMENT['hono'],
  '@fastify/rate-limit': DEVELOPMENT['@fastify/rate-limit'],
  '@nestjs/common': DEVELOPMENT['@nestjs/common'],
  '@nestjs/core': DEVELOPMENT['@nestjs/core'],
  'express-rate-limit': DEVELOPMENT['express-rate-limit'],
  'hono-rate-limiter': DEVELOPMENT['hono-rate-limiter'],
  'reflect-metadata': DEVELOPMENT['reflect-metadata'],
  rxjs: DEVELOPMENT['rxjs'],
  'node-cron': DEVELOPMENT['node-cron'],
  'node-cron44': DEVELOPMENT['node-cron44'],
}
const TOOLS = join(root, 'node_modules/.cache/holdfast/tools')
const NODE_TYPES = DEVELOPMENT['@types/node']
const JEST = '30.5.2'

const RESOLUTIONS = [
  { module: 'node16', moduleResolution: 'node16' },
  { module: 'esnext', moduleResolution: 'bundler' },
]
/** Of the middleware in its frameworks. */
const MODULES = [
  { module: 'node16', moduleResolution: 'node16' },
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'preserve', moduleResolution: 'bundler' },
  { module: 'esnext', moduleResolution: 'bundler' },
]
/** And of CommonJS. The newest compiler knows no `node10` any more. */
const OLD_RESOLUTIONS = [{ module: 'node16', moduleResolution: 'node16' }]
const OLDEST_RESOLUTIONS = [...OLD_RESOLUTIONS, { module: 'commonjs', moduleResolution: 'node10' }]
const PLATFORMS = [
  { lib: ['ES2022'], types: ['node'], typeRoots: [join(TOOLS, 'node_modules/@types')] },
  { lib: ['ES2022', 'DOM'], types: [] },
]

/** @param {string[]} args @param {string} folder */
const quietNpm = (args, folder) => {
  const { status, stdout, stderr } = npm([...args, '--no-audit', '--no-fund', '--prefer-offline'], {
    cwd: folder,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr}`)
  return String(stdout)
}

/** @param {string} program @param {string[]} args @param {string} folder */
const answer = (program, args, folder) => {
  const { status, signal, stdout, stderr, error } = spawnSync(program, args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: TIME_TO_ANSWER,
  })
  const said = `${stdout ?? ''}${stderr ?? ''}`.trim()
  if (status !== 0)
    throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? signal ?? `exit ${status}`}\n${said}`)
  return said
}

class Tarball {
  /** @param {string} folder */
  constructor(folder) {
    this.folder = folder
    this.consumer = join(folder, 'consumer')
    this.file = ''
  }

  async pack() {
    const staged = join(this.folder, 'staged')
    await stage(staged)
    const [packed] = JSON.parse(quietNpm(['pack', '--json', '--pack-destination', this.folder], staged))
    this.file = join(this.folder, packed.filename)
    const paths = packed.files.map((/** @type {{ path: string }} */ { path }) => path)
    const strange = paths.filter(
      (/** @type {string} */ path) => !PUBLISHED.test(path) || /\.test\.|(^|\/)test\//.test(path),
    )
    if (strange.length > 0) throw new Error(`not to be published: ${strange.join(', ')}`)
    console.log(
      `   ${paths.length} files, ${kilobytes(packed.size)} packed, ${kilobytes(packed.unpackedSize)} unpacked`,
    )
  }

  install() {
    mkdirSync(this.consumer)
    writeFileSync(join(this.consumer, 'package.json'), '{ "private": true, "type": "module" }\n')
    quietNpm(['install', '--ignore-scripts', this.file], this.consumer)
    const modules = join(this.consumer, 'node_modules')
    const packages = Object.keys(JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')).packages).length
    const bytes = sizeOf(modules)
    console.log(
      `   ${packages} packages (at most ${MOST_PACKAGES}), ${kilobytes(bytes)} (at most ${kilobytes(MOST_BYTES)})`,
    )
    if (packages > MOST_PACKAGES) throw new Error(`${packages} packages are installed; ${MOST_PACKAGES} are allowed`)
    if (bytes > MOST_BYTES) throw new Error(`${bytes} bytes are installed; ${MOST_BYTES} are allowed`)
  }

  run() {
    cpSync(join(root, 'test/tools/package/smoke.mjs'), join(this.consumer, 'smoke.mjs'))
    answer(process.execPath, ['smoke.mjs'], this.consumer)
    answer(process.execPath, ['-e', CONNECTS], this.consumer)
    // For whatever cannot load modules by `require`: all of it in CommonJS.
    cpSync(join(root, 'test/tools/package/smoke.cjs'), join(this.consumer, 'smoke.cjs'))
    for (const flags of [[], ['--no-experimental-require-module']])
      answer(process.execPath, [...flags, 'smoke.cjs'], this.consumer)
    const bin = join(this.consumer, 'node_modules/.bin/holdfast')
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const said = answer(bin, ['--version'], this.consumer)
    if (said !== version) throw new Error(`holdfast --version says '${said}', not ${version}`)
    if (!/\bdemo\b/.test(answer(bin, ['--help'], this.consumer)))
      throw new Error('holdfast --help does not tell of the demo')
  }

  /** Those that start a program of the package as a process of its own. */
  async commands() {
    const { startRedis } = await import(pathToFileURL(join(root, '.build/test/support/redis-server.js')).href)
    const redis = await startRedis().catch((/** @type {any} */ error) => {
      throw error.code === 'NO_REDIS' ? new Skip('no Redis server to start') : error
    })
    const holdfast = (/** @type {string[]} */ ...args) =>
      answer(join(this.consumer, 'node_modules/.bin/holdfast'), args, this.consumer)
    try {
      const said = holdfast('run', 'job', '--url', redis.url, '--', process.execPath, '-p', '6 * 7')
      if (said !== '42') throw new Error(`holdfast run says '${said}', and its command says 42`)
      const demo = holdfast('demo', '--plain', '--seconds', '4', '--url', redis.url)
      if (!/ crashes while holding it/.test(demo)) throw new Error(`no worker of the demo has crashed:\n${demo}`)
    } finally {
      await redis.stop()
    }
  }

  /** With Jest's own settings: no transform for packages, no flag for ES modules. */
  jest() {
    installTools()
    cpSync(join(root, 'test/tools/package/smoke.jest.cjs'), join(this.consumer, 'smoke.jest.cjs'))
    const settings = JSON.stringify({ rootDir: this.consumer, testMatch: ['**/*.jest.cjs'] })
    const said = answer(
      process.execPath,
      [join(TOOLS, 'node_modules/jest/bin/jest.js'), '--config', settings],
      this.consumer,
    )
    if (!/^Tests: +3 passed, 3 total$/m.test(said)) throw new Error(said)
  }

  /** As docs/guide.md says. A bundle runs where there are no packages. */
  async bundle() {
    const { build } = await import('esbuild')
    const common = { absWorkingDir: this.consumer, bundle: true, platform: /** @type {const} */ ('node') }
    const banner = { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" }
    const made = join(this.folder, 'bundles')
    const bundles = [
      { entryPoints: ['smoke.mjs'], outfile: join(made, 'banner.mjs'), format: /** @type {const} */ ('esm'), banner },
      { entryPoints: ['short.cjs'], outfile: join(made, 'plain.cjs'), format: /** @type {const} */ ('cjs') },
    ]
    writeFileSync(join(this.consumer, 'short.cjs'), CONNECTS)
    for (const one of bundles) {
      await build({ ...common, ...one })
      answer(process.execPath, [one.outfile], made)
    }
  }

  /** @param {string} compiler */
  compile(compiler) {
    installTools()
    cpSync(join(root, 'test/tools/package/consumer.ts'), join(this.consumer, 'consumer.ts'))
    const problems = RESOLUTIONS.flatMap((resolution) =>
      PLATFORMS.map((platform) => compileWith(compiler, this.consumer, 'consumer.ts', { ...resolution, ...platform })),
    )
    cpSync(join(root, 'test/tools/package/consumer.cts'), join(this.consumer, 'consumer.cts'))
    const resolutions = compiler === 'typescript-oldest' ? OLDEST_RESOLUTIONS : OLD_RESOLUTIONS
    for (const resolution of resolutions)
      problems.push(compileWith(compiler, this.consumer, 'consumer.cts', { ...resolution, ...PLATFORMS[0] }))
    const found = problems.filter(Boolean)
    if (found.length > 0) throw new Error(found.join('\n'))
  }

  /** The middleware, in each framework. @param {string} compiler @param {typeof MODULES} ways */
  compileHttp(compiler, ways) {
    installTools()
    cpSync(join(root, 'test/tools/package/http-consumer.ts'), join(this.consumer, 'http-consumer.ts'))
    const modules = join(this.consumer, 'node_modules')
    for (const scope of ['@types', '@nestjs', '@fastify']) mkdirSync(join(modules, scope), { recursive: true })
    for (const name of Object.keys(FRAMEWORKS)) {
      rmSync(join(modules, name), { force: true })
      symlinkSync(join(TOOLS, 'node_modules', name), join(modules, name))
    }
    cpSync(join(root, 'test/tools/package/nest-consumer.ts'), join(this.consumer, 'nest-consumer.ts'))
    const found = ways.flatMap((module) => {
      const options = { ...module, ...PLATFORMS[0], lib: ['ES2022', 'DOM'], esModuleInterop: true }
      return [
        compileWith(compiler, this.consumer, 'http-consumer.ts', options),
        compileWith(compiler, this.consumer, 'nest-consumer.ts', { ...options, experimentalDecorators: true }),
      ].filter(Boolean)
    })
    if (found.length > 0) throw new Error(found.join('\n'))
  }
}

const CONNECTS = "require('holdfast').connect('memory:').then((client) => client.close())"

/** @param {number} bytes */
const kilobytes = (bytes) => `${Math.round(bytes / 1000)} kB`

/** @param {string} folder */
const sizeOf = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)

/** The compilers and Jest, kept between runs. */
const installTools = () => {
  const wanted = JSON.stringify({
    private: true,
    dependencies: { ...COMPILERS, ...FRAMEWORKS, '@types/node': NODE_TYPES, jest: JEST },
  })
  const stamp = join(TOOLS, 'installed.json')
  if (statSync(stamp, { throwIfNoEntry: false }) && readFileSync(stamp, 'utf8') === wanted) return
  rmSync(TOOLS, { recursive: true, force: true })
  mkdirSync(TOOLS, { recursive: true })
  writeFileSync(join(TOOLS, 'package.json'), wanted)
  quietNpm(['install', '--ignore-scripts'], TOOLS)
  writeFileSync(stamp, wanted)
}

/** @param {string} compiler @param {string} folder @param {string} file @param {Record<string, unknown>} options @returns {string} what is wrong */
const compileWith = (compiler, folder, file, options) => {
  const compilerOptions = {
    ...options,
    target: 'ES2022',
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }))
  try {
    answer(process.execPath, [join(TOOLS, 'node_modules', compiler, 'bin/tsc'), '-p', folder], folder)
    return ''
  } catch (error) {
    const { module, moduleResolution, lib, types } = /** @type {any} */ (options)
    const [command = '', ...lines] = (error instanceof Error ? error.message : String(error)).split('\n')
    // A compiler that was stopped says nothing.
    const said = lines.some(Boolean) ? lines.slice(0, MOST_LINES) : [command]
    return [`${compiler}, ${file}, ${module}/${moduleResolution}, lib ${lib}, types [${types}]:`, ...said].join('\n')
  }
}

/** @returns {import('./test/parts.mjs').Part[]} */
export const packageParts = () => {
  /** All modules under the slower compiler, too. */
  const byHand = process.env['HOLDFAST_ALL_MODULES'] === '1'
  const tarball = new Tarball(mkdtempSync(join(tmpdir(), 'holdfast-package-')))
  process.once('exit', () => rmSync(tarball.folder, { recursive: true, force: true }))
  return [
    { name: 'package: contents', run: () => tarball.pack() },
    { name: 'package: publint', run: () => callTool('publint/src/cli.js', [tarball.file, '--strict']) },
    {
      name: 'package: are the types wrong',
      // The renewal thread is a program, which nobody imports.
      run: () =>
        callTool('@arethetypeswrong/cli/dist/index.js', [
          ...[tarball.file, '--profile', 'strict', '--format', 'ascii', '--exclude-entrypoints', 'renewal-thread'],
        ]),
    },
    { name: 'package: installed', run: () => tarball.install() },
    { name: 'package: run', run: () => tarball.run() },
    { name: 'package: commands', run: () => tarball.commands() },
    { name: 'package: run by Jest', run: () => tarball.jest() },
    { name: 'package: bundled', run: () => tarball.bundle() },
    { name: 'package: types, oldest compiler', run: () => tarball.compile('typescript-oldest') },
    { name: 'package: types, newest compiler', run: () => tarball.compile('typescript-newest') },
    {
      name: 'package: types in frameworks, TypeScript 5.9',
      run: () => tarball.compileHttp('typescript-5.9', byHand ? MODULES : MODULES.slice(0, 1)),
    },
    {
      name: 'package: types in frameworks, newest compiler',
      run: () => tarball.compileHttp('typescript-newest', MODULES),
    },
  ]
}

if (isMain(import.meta.url)) process.exit(summarize(await runParts(packageParts())) ? 0 : 1)
