import type { Entry, Page } from '../command.js'
import { bashScript } from '../completion/bash.js'
import { fishScript } from '../completion/fish.js'
import { describedOf } from '../completion/described-commands.js'
import { zshScript } from '../completion/zsh.js'
import { parse, UsageError } from '../usage-error.js'

const SCRIPTS = new Map([
  ['bash', bashScript],
  ['zsh', zshScript],
  ['fish', fishScript],
])
const SHELLS = [...SCRIPTS.keys()]

export const page: Page = {
  usage: ['completion bash|zsh|fish'],
  about: 'Prints a script with which your shell completes the commands, options and values of holdfast.',
  options: {},
  words: SHELLS,
  more: `Where it belongs:
  bash  in ~/.bashrc: eval "$(holdfast completion bash)"
  zsh   in ~/.zshrc, behind compinit: eval "$(holdfast completion zsh)"
  fish  holdfast completion fish > ~/.config/fish/completions/holdfast.fish
`,
}

export const run = async (args: readonly string[], all: readonly Entry[]): Promise<number> => {
  const { positionals } = parse({ args: [...args], allowPositionals: true, options: {} })
  const [shell = '', ...more] = positionals
  const script = SCRIPTS.get(shell)
  if (script === undefined || more.length > 0)
    throw new UsageError(`completion needs the name of one shell: ${SHELLS.join(', ')}`)
  process.stdout.write(script(await describedOf(all)))
  return 0
}
