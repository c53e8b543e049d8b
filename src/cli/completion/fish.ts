import type { Option } from '../command.js'
import { brief, type Described, optionsOf, quote, wordsOf } from './described-commands.js'

const valueOf = ({ type, words = [], file }: Option): string => {
  if (type === 'boolean') return ''
  if (file === true) return ' -r -F'
  return words.length > 0 ? ` -x -a ${quote(words.join(' '))}` : ' -x'
}

const linesOf = (described: Described, all: readonly Described[]): readonly string[] => {
  const { name, summary } = described
  const inside = `complete -c holdfast -n ${quote(`__holdfast_is ${name}`)}`
  const words = wordsOf(described, all)
  return [
    `complete -c holdfast -n '__holdfast_is' -a ${name} -d ${quote(summary)}`,
    ...optionsOf(described).map(([option, about]) => {
      const short = about.short === undefined ? '' : ` -s ${about.short}`
      return `${inside}${short} -l ${option}${valueOf(about)} -d ${quote(brief(about))}`
    }),
    ...(words.length > 0
      ? [`${inside}${described.page.files === true ? ' -F' : ''} -a ${quote(words.join(' '))}`]
      : []),
  ]
}

export const fishScript = (
  all: readonly Described[],
): string => `# holdfast completion fish > ~/.config/fish/completions/holdfast.fish
function __holdfast_is
    set -l words (commandline -opc)
    test "$words[2]" = "$argv[1]"
end
complete -c holdfast -f
${all.flatMap((each) => linesOf(each, all)).join('\n')}
`
