import type { Entry, Option, Page } from '../command.js'

/** A command, with everything that the help says of it. */
export interface Described {
  readonly name: string
  readonly summary: string
  readonly page: Page
}

export const describedOf = (all: readonly Entry[]): Promise<readonly Described[]> =>
  Promise.all(all.map(async (entry) => ({ name: entry.name, summary: entry.summary, page: (await entry.load()).page })))

const HELP: Option = { type: 'boolean', short: 'h', help: 'print this help' }

/** The options of a command, that for its help as well. */
export const optionsOf = ({ page }: Described): readonly (readonly [name: string, option: Option])[] => [
  ...Object.entries(page.options),
  ['help', HELP],
]

/** The words that may be arguments. */
export const wordsOf = ({ page: { words = [] } }: Described, all: readonly Described[]): readonly string[] =>
  words === 'commands' ? all.map(({ name }) => name) : words

/** What a menu has room for. */
export const brief = ({ help }: Option): string => help.split(/ \(|[:;,] /)[0] ?? ''

/** A text in single quotes, as all three shells read it. */
export const quote = (text: string): string => `'${text.replaceAll("'", '’')}'`
