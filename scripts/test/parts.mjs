// @ts-check
/**
 * A part of the whole check: passes, fails by throwing, or is skipped by throwing a `Skip`.
 *
 * @typedef {object} Part
 * @property {string} name
 * @property {() => void | Counts | Promise<void | Counts>} run
 * @property {boolean} [essential] nothing can run after it when it fails
 *
 * @typedef {object} Counts
 * @property {number} passed
 * @property {number} failed
 * @property {Map<string, number>} skipped how many of each reason
 */
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

/** The reason begins with `no` and the name by which HOLDFAST_REQUIRE knows what is missing. */
export class Skip extends Error {}

/** Runs a program, shows what it says, and throws when it fails. @param {string} program @param {string[]} args @param {import('node:child_process').SpawnSyncOptions} [options] */
export const call = (program, args, options) => {
  const { status, signal, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit', ...options })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? signal ?? `exit ${status}`}`)
}

/** Runs a tool of this project's packages. @param {string} script below node_modules @param {string[]} args */
export const callTool = (script, args) => {
  const { status } = spawnSync(process.execPath, [join(root, 'node_modules', script), ...args], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error(`${script.split('/')[0]} is not content`)
}

/**
 * Begins to run a tool of this project's packages beside what follows. What it returns waits for it, shows what it said, and
 * throws when it failed.
 *
 * @param {string} script below node_modules @param {string[]} args
 */
export const startTool = (script, args) => {
  const tool = spawn(process.execPath, [join(root, 'node_modules', script), ...args], { cwd: root })
  let said = ''
  for (const stream of [tool.stdout, tool.stderr]) stream.on('data', (chunk) => (said += chunk))
  /** @type {Promise<number | null>} */
  const ended = new Promise((resolve) => tool.once('close', resolve))
  return async () => {
    const status = await ended
    process.stdout.write(said)
    if (status !== 0) throw new Error(`${script.split('/')[0]} is not content`)
  }
}

/** What must not be skipped, as HOLDFAST_REQUIRE=redis,java says. */
const required = () => (process.env['HOLDFAST_REQUIRE'] ?? '').split(',').filter(Boolean)

/** @param {string} reason */
const mustNotSkip = (reason) => required().some((what) => new RegExp(`^no ${what}\\b`, 'i').test(reason))

/** @param {Part} part @returns {Promise<Counts>} */
const runPart = async ({ name, run }) => {
  try {
    return (await run()) ?? { passed: 1, failed: 0, skipped: new Map() }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    if (error instanceof Skip) return { passed: 0, failed: 0, skipped: new Map([[reason, 1]]) }
    console.error(`✘ ${name}: ${reason}`)
    return { passed: 0, failed: 1, skipped: new Map() }
  }
}

/** @param {readonly Part[]} parts @returns {Promise<Counts>} */
export const runParts = async (parts) => {
  /** @type {Counts} */
  const total = { passed: 0, failed: 0, skipped: new Map() }
  for (const part of parts) {
    console.log(`\n── ${part.name}`)
    const began = performance.now()
    const { passed, failed, skipped } = await runPart(part)
    total.passed += passed
    total.failed += failed
    for (const [reason, count] of skipped) total.skipped.set(reason, (total.skipped.get(reason) ?? 0) + count)
    const outcome = failed > 0 ? 'FAILED' : passed > 0 ? 'ok' : 'SKIPPED'
    console.log(`   ${part.name}: ${outcome}, ${((performance.now() - began) / 1000).toFixed(1)} s`)
    if (failed > 0 && part.essential) break
  }
  return total
}

/** Says what was skipped and why, then the one line that counts. @param {Counts} total @returns {boolean} whether all is well */
export const summarize = ({ passed, failed, skipped }) => {
  let failures = failed
  let skips = 0
  for (const [reason, count] of skipped) {
    const bad = mustNotSkip(reason)
    if (bad) failures += count
    else skips += count
    console.log(`\n${bad ? '✘ REQUIRED, AND NOT RUN' : '⚠ SKIPPED'} (${count}): ${reason}`)
  }
  console.log(`\n${passed} passed, ${failures} failed${skips > 0 ? `, ${skips} skipped` : ''}`)
  return failures === 0
}
