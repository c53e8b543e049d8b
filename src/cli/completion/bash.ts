import type { Option } from '../command.js'
import { type Described, optionsOf, wordsOf } from './described-commands.js'

const flagsOf = (name: string, { short }: Option): readonly string[] => [
  ...(short === undefined ? [] : [`-${short}`]),
  `--${name}`,
]

/** What comes behind an option that takes a value. */
const valueCase = (command: string, name: string, option: Option): string => {
  const pattern = flagsOf(name, option)
    .map((flag) => `${command}:${flag}`)
    .join(' | ')
  if (option.file === true) return `    ${pattern}) _holdfast_files ;;`
  return `    ${pattern}) _holdfast_offer '${(option.words ?? []).join(' ')}' ;;`
}

const casesOf = (described: Described, all: readonly Described[]): readonly string[] => {
  const { name } = described
  const options = optionsOf(described)
  const words = [...wordsOf(described, all), ...options.flatMap(([option, about]) => flagsOf(option, about))]
  return [
    ...options.filter(([, { type }]) => type === 'string').map(([option, about]) => valueCase(name, option, about)),
    `    ${name}:*) _holdfast_offer '${words.join(' ')}'${described.page.files === true ? '; _holdfast_files' : ''} ;;`,
  ]
}

export const bashScript = (all: readonly Described[]): string => `# In ~/.bashrc: eval "$(holdfast completion bash)"
_holdfast_offer() { COMPREPLY=($(compgen -W "$1" -- "\${COMP_WORDS[COMP_CWORD]}")); }
# Readline knows best how to complete the path of a file.
_holdfast_files() { compopt -o default 2>/dev/null; }
_holdfast() {
  local i
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    _holdfast_offer '${all.map(({ name }) => name).join(' ')} --help --version'
    return
  fi
  for ((i = 2; i < COMP_CWORD; i++)); do
    # Behind --, another command begins.
    if [[ \${COMP_WORDS[i]} == -- ]]; then
      if ((i + 1 == COMP_CWORD)); then
        COMPREPLY=($(compgen -c -- "\${COMP_WORDS[COMP_CWORD]}"))
      else
        _holdfast_files
      fi
      return
    fi
  done
  case \${COMP_WORDS[1]}:\${COMP_WORDS[COMP_CWORD - 1]} in
${all.flatMap((each) => casesOf(each, all)).join('\n')}
  esac
}
complete -F _holdfast holdfast
`
