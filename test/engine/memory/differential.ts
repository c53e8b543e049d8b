import { setTimeout as sleep } from 'node:timers/promises'
import { templates } from './command-grammar.js'
import { type Argv, randomCommand, type Settings } from './random-commands.js'
import { Random } from '#src/testing/random.js'
import { agree, type Plain } from './replies.js'
import { randomScript, repliesOf } from './random-scripts.js'
import type { Answers, Servers } from './servers.js'

const BATCH = 100
const PATIENCE_MS = 5
/** Absolute times are counted from here, so that none falls between the two servers' answers. */
const WELL_PAST_MS = 10_000

export interface Run {
  readonly seed: number
  readonly sequences: number
  /** Per sequence. */
  readonly steps: number
  readonly scripts: boolean
}

export interface Outcome {
  steps: number
  readonly differences: string[]
}

/** Out of its compact form, a sorted set of unlike scores has no lexicographical ranges to rely on. */
const NEEDS_ORDER = / x|BYLEX/

const show = (plain: Plain | readonly string[]): string => JSON.stringify(plain).slice(0, 600)

const READS: Readonly<Record<string, (key: string) => Argv>> = {
  string: (key) => ['GET', key],
  hash: (key) => ['HGETALL', key],
  list: (key) => ['LRANGE', key, '0', '-1'],
  set: (key) => ['SMEMBERS', key],
  zset: (key) => ['ZRANGE', key, '0', '-1', 'WITHSCORES'],
}

/** One seeded sequence after the other, each on an empty key space, each up to its first difference. */
export class Differential {
  readonly #servers: Servers
  readonly outcome: Outcome = { steps: 0, differences: [] }

  constructor(servers: Servers) {
    this.#servers = servers
  }

  async run({ seed, sequences, steps, scripts }: Run): Promise<void> {
    for (let i = 0; i < sequences; i++) {
      const random = new Random(seed + i)
      const settings = { long: i % 3 === 2, now: Date.now() - WELL_PAST_MS }
      const difference = await this.#sequence(random, settings, steps, scripts)
      if (difference !== undefined) this.outcome.differences.push(`seed ${seed}, sequence ${i}: ${difference}`)
    }
  }

  async #sequence(random: Random, settings: Settings, steps: number, scripts: boolean): Promise<string | undefined> {
    await this.#servers.ask([['FLUSHALL']])
    const past: Argv[] = []
    const usable = templates.filter((template) => !settings.long || !NEEDS_ORDER.test(template))
    for (let done = 0; done < steps; done += BATCH) {
      const commands = Array.from({ length: BATCH }, () => randomCommand(usable, random, settings))
      const found = await (scripts ? this.#scripts(commands, random, settings) : this.#commands(commands, settings))
      this.outcome.steps += commands.length
      past.push(...commands)
      if (found !== undefined) return found + this.#story(past, found)
      const space = (await this.#keySpace(settings)) ?? (await this.#expireSome(random, settings))
      if (space !== undefined) return `after ${show(past.slice(-BATCH).map((argv) => argv.join(' ')))}\n${space}`
    }
    return undefined
  }

  async #commands(commands: readonly Argv[], settings: Settings): Promise<string | undefined> {
    return this.#compare(commands, await this.#servers.ask(commands), settings)
  }

  #compare(commands: readonly Argv[], answers: readonly Answers[], { long }: Settings): string | undefined {
    for (const [i, argv] of commands.entries()) {
      const { memory = null, redis = null } = answers[i] ?? {}
      if (agree(argv, memory, redis, long)) continue
      return `${show(argv)}\n  memory ${show(memory)}\n  redis  ${show(redis)}`
    }
    return undefined
  }

  /** The same commands as scripts of a few calls each. */
  async #scripts(commands: readonly Argv[], random: Random, settings: Settings): Promise<string | undefined> {
    const rest = [...commands]
    const scripts = []
    while (rest.length > 0) scripts.push(randomScript(rest.splice(0, 1 + random.below(5)), random))
    const answers = await this.#servers.ask(scripts.map(({ argv }) => argv))
    for (const [i, script] of scripts.entries()) {
      const { memory = null, redis = null } = answers[i] ?? {}
      const parts = repliesOf(script, { memory, redis })
      const found = this.#compare(parts.commands, parts.answers, settings)
      if (found !== undefined) return `${found}\n  in ${show(script.argv)}`
    }
    return undefined
  }

  /** The commands before it that had to do with the same keys. */
  #story(past: readonly Argv[], found: string): string {
    const keys = new Set(found.match(/"[shltz][123]"/g)?.map((key) => key.slice(1, -1)))
    const told = past.slice(0, -1).filter((argv) => argv.some((word) => keys.has(word)))
    return `\n  after ${show(told.slice(-8).map((argv) => argv.join(' ')))}`
  }

  async #keySpace({ long }: Settings): Promise<string | undefined> {
    const keys = await this.#servers.askOne('KEYS', '*')
    if (!agree(['KEYS'], keys.memory, keys.redis, long)) return `keys ${show(keys.memory)} ${show(keys.redis)}`
    const names = Array.isArray(keys.redis) ? keys.redis.map((key) => String(key).slice(1)) : []
    const types = await this.#servers.ask(names.map((name) => ['TYPE', name]))
    const questions: Argv[] = names.flatMap((name, i) => {
      const read = READS[String(types[i]?.redis).slice(1)]?.(name)
      return [['TYPE', name], ['PTTL', name], ...(read === undefined ? [] : [read])]
    })
    return this.#compare(questions, await this.#servers.ask(questions), { long, now: 0 })
  }

  /** Lets some keys expire while nobody looks. */
  async #expireSome(random: Random, settings: Settings): Promise<string | undefined> {
    if (!random.chance(0.1)) return undefined
    const keys = ['s1', 'h1', 'l1', 't1', 'z1', 's2', 'h2'].filter(() => random.chance(0.4))
    await this.#servers.ask(keys.map((key) => ['PEXPIRE', key, '1']))
    await sleep(PATIENCE_MS)
    return this.#keySpace(settings)
  }
}
