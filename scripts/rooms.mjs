#!/usr/bin/env node
// @ts-check
/**
 * npm run rooms              draws which folder of src uses which, in docs/how-it-works/rooms.md
 * npm run rooms -- --check   fails where an arrow breaks a rule of .dependency-cruiser.mjs, or the drawing is out of date
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import rules from '../.dependency-cruiser.mjs'

const PAGE = join(import.meta.dirname, '../docs/how-it-works/rooms.md')
const [BEGIN, END] = ['<!-- drawn by npm run rooms -->', '<!-- end of the drawing -->']
/** What uses all of it, and what all of it uses, says nothing. */
const LEFT_OUT = ['api', 'testing', 'cli', 'dashboard', 'http', 'nest', 'schedule', 'telemetry', 'config']

/** @param {string} file */
const roomOf = (file) => /^src\/(?:core\/)?([^/]+)\//.exec(file)?.[1]

/** @param {readonly { source: string, dependencies: readonly { resolved: string }[] }[]} modules */
const arrowsOf = (modules) => {
  /** @type {Map<string, Set<string>>} */
  const arrows = new Map()
  for (const { source, dependencies } of modules) {
    const from = roomOf(source)
    if (from === undefined || LEFT_OUT.includes(from)) continue
    const targets = arrows.get(from) ?? new Set()
    arrows.set(from, targets)
    for (const { resolved } of dependencies) {
      const to = roomOf(resolved)
      if (to !== undefined && to !== from && !LEFT_OUT.includes(to)) targets.add(to)
    }
  }
  return arrows
}

/** Whether there is a way that is longer than the arrow. @param {Map<string, Set<string>>} arrows @param {string} from @param {string} to */
const isShortcut = (arrows, from, to) => {
  /** @param {string} room @returns {boolean} */
  const leads = (room) => room === to || [...(arrows.get(room) ?? [])].some(leads)
  return [...(arrows.get(from) ?? [])].some((next) => next !== to && leads(next))
}

/** @param {Map<string, Set<string>>} arrows */
const drawn = (arrows) => {
  const lines = [...arrows].flatMap(([from, targets]) =>
    [...targets].filter((to) => !isShortcut(arrows, from, to)).map((to) => `  ${from} --> ${to}`),
  )
  return ['```mermaid', 'flowchart TD', ...lines.sort(), '```'].join('\n')
}

const { cruise } = await import('dependency-cruiser')
const { default: extractTSConfig } = await import('dependency-cruiser/config-utl/extract-ts-config')
const options = { ...rules.options, ruleSet: { forbidden: rules.forbidden ?? [] }, validate: true }
/** @param {string} folder @param {string} config */
const cruised = async (folder, config) => {
  const { output } = await cruise([folder], options, undefined, { tsConfig: extractTSConfig(config) })
  if (typeof output === 'string') throw new Error(output)
  return output
}
const output = await cruised('src', 'tsconfig.json')
const beside = await cruised('bench', 'tsconfig.test.json')
const violations = [...output.summary.violations, ...beside.summary.violations]
for (const { rule, from, to } of violations) console.error(`✘ ${rule.name}: ${from} → ${to}`)
if (violations.length > 0) process.exit(1)
const page = readFileSync(PAGE, 'utf8')
const [start, end] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)]
const now = `${page.slice(0, start)}\n\n${drawn(arrowsOf(output.modules))}\n\n${page.slice(end)}`
const check = process.argv.includes('--check')
if (!check) writeFileSync(PAGE, now)
else if (now !== page) console.error(`✘ docs/how-it-works/rooms.md is out of date: npm run rooms`)
process.exit(check && now !== page ? 1 : 0)
