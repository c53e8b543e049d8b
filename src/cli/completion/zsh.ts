import type { Option } from '../command.js'
import { brief, type Described, optionsOf, quote, wordsOf } from './described-commands.js'

/** A colon ends a part of a specification. */
const part = (text: string): string => text.replaceAll(':', String.raw`\:`)

const valueOf = ({ type, value = '', words = [], file }: Option): string => {
  if (type === 'boolean') return ''
  return `:${value}:${file === true ? '_files' : words.length > 0 ? `(${part(words.join(' '))})` : ''}`
}

const optionLine = (name: string, option: Option): string => {
  const { short } = option
  const rest = `[${brief(option)}]${valueOf(option)}`
  return short === undefined
    ? quote(`--${name}${rest}`)
    : `${quote(`(-${short} --${name})`)}{-${short},--${name}}${quote(rest)}`
}

const caseOf = (described: Described, all: readonly Described[]): string => {
  const words = wordsOf(described, all)
  const first = words.length > 0 ? [quote(`1:argument:(${words.join(' ')})`)] : []
  const rest = quote(`*:argument:${described.page.files === true ? '_files' : ''}`)
  const specs = [...optionsOf(described).map(([name, option]) => optionLine(name, option)), ...first, rest]
  return `    ${described.name})\n      _arguments -s -S ${specs.join(' \\\n        ')}\n      ;;`
}

export const zshScript = (all: readonly Described[]): string => `#compdef holdfast
# In ~/.zshrc, behind compinit: eval "$(holdfast completion zsh)"
_holdfast() {
  local -a commands
  commands=(
${all.map(({ name, summary }) => `    ${quote(`${name}:${part(summary)}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe -t commands command commands
    return
  fi
  local -i end=\${words[(i)--]}
  # Behind --, another command begins.
  if (( end < CURRENT )); then
    shift $end words
    (( CURRENT -= end ))
    _normal
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${all.map((each) => caseOf(each, all)).join('\n')}
  esac
}
compdef _holdfast holdfast
`
