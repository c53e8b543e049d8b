import type { Argv } from './random-commands.js'
import type { Random } from '#src/testing/random.js'
import type { Plain } from './replies.js'
import type { Answers } from './servers.js'

export interface Script {
  readonly argv: Argv
  readonly calls: readonly Argv[]
}

/** Runs the commands that its arguments count and list. */
const runner = (call: string): string => `
local out, at = {}, 1
while at <= #ARGV do
  local amount = tonumber(ARGV[at])
  out[#out + 1] = redis.${call}(unpack(ARGV, at + 1, at + amount))
  at = at + amount + 1
end
return out`

const escaped = (char: string): string => `\\${String(char.charCodeAt(0)).padStart(3, '0')}`
const quoted = (word: string): string => `'${word.replaceAll(/[^\w .:[\]()*-]/g, escaped)}'`

/** The commands word by word, numbers now and then as Lua numbers. */
const written = (calls: readonly Argv[], random: Random): string => {
  const lines = calls.map((argv) => {
    const call = random.chance(0.5) ? 'call' : 'pcall'
    const words = argv.map((word) => (/^-?[1-9]\d{0,8}$/.test(word) && random.chance(0.5) ? word : quoted(word)))
    return `out[#out + 1] = redis.${call}(${words.join(', ')})`
  })
  return `local out = {}\n${lines.join('\n')}\nreturn out`
}

const NOT_IN_SCRIPTS = /^(?:EVALSHA|SCRIPT)$/i

export const randomScript = (commands: readonly Argv[], random: Random): Script => {
  const calls = commands.filter(([name = '']) => !NOT_IN_SCRIPTS.test(name) || random.chance(0.1))
  if (random.chance(0.3)) return { argv: ['EVAL', written(calls, random), '0'], calls }
  const body = runner(random.chance(0.8) ? 'pcall' : 'call')
  return { argv: ['EVAL', body, '0', ...calls.flatMap((argv) => [String(argv.length), ...argv])], calls }
}

const listed = (plain: Plain, { argv, calls }: Script): { commands: Argv[]; parts: Plain[] } =>
  Array.isArray(plain) && plain.length === calls.length
    ? { commands: [...calls], parts: plain }
    : { commands: [argv], parts: [plain] }

/** The replies call by call, or, when the script has failed, as one. */
export const repliesOf = (script: Script, { memory, redis }: Answers): { commands: Argv[]; answers: Answers[] } => {
  const real = listed(redis, script)
  const own = listed(memory, script).parts
  return {
    commands: real.commands,
    answers: real.parts.map((part, i) => ({ redis: part, memory: own[i] ?? null })),
  }
}
