// Before the start: in a fresh clone holdfast is built first, then the packages of this example are installed.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const scripts = fileURLToPath(new URL('../../scripts/', import.meta.url))

const run = (program, ...args) => {
  const { status } = spawnSync(program, args, { cwd: here, stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) process.exit(status ?? 1)
}

if (existsSync(scripts) && !existsSync(fileURLToPath(new URL('../../dist/index.js', import.meta.url)))) {
  run(process.execPath, `${scripts}install.mjs`)
  run(process.execPath, `${scripts}build.mjs`)
}
if (!['express', 'holdfast', 'prom-client'].some((name) => !existsSync(`${here}node_modules/${name}`))) {
  run('npm', 'install', '--no-audit', '--no-fund', '--no-package-lock')
}
