// @ts-check
/** dist/ → man/holdfast.1: the help of all commands as one page of man(1), from the descriptions that --help and the completion are made from. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** @typedef {import('../src/cli/completion/described-commands.js').Described} Described */
/** @typedef {import('../src/cli/command.js').Option} Option */

export const MAN = 'man/holdfast.1'

/** What roff would act on, or not know. @param {string} text */
const plain = (text) =>
  text
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replace(/[^\0-\x7f]/gu, (sign) => `\\[u${sign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`)

/** A line that is no request, whatever it begins with. @param {string} text */
const line = (text) => plain(text).replace(/^(?=[.'])/, String.raw`\&`)

/** @param {string} text */
const bold = (text) => `\\fB${plain(text)}\\fR`

/** @param {string} text */
const flags = (text) => `\\fI${plain(text)}\\fR`

/** @param {readonly [name: string, option: Option]} option */
const optionLines = ([name, { short, value, help }]) => [
  '.TP',
  [...(short === undefined ? [] : [bold(`-${short}`)]), bold(`--${name}`)].join(', ') +
    (value === undefined ? '' : ` ${flags(value)}`),
  line(help),
]

/** Examples and tables stay as they are. @param {string} text */
const block = (text) => (text === '' ? [] : ['.PP', '.nf', ...text.trimEnd().split('\n').map(line), '.fi'])

/** @param {Described} described @param {readonly (readonly [string, Option])[]} options */
const commandLines = ({ name, page: { usage, about, more } }, options) => [
  `.SS ${plain(name)}`,
  ...usage.flatMap((form, i) => [...(i === 0 ? [] : ['.br']), bold(`holdfast ${form}`)]),
  ...about.split('\n\n').flatMap((part) => ['.PP', line(part)]),
  ...options.flatMap(optionLines),
  ...block(more),
]

/** @param {string} root where dist/ is */
export const manPage = async (root) => {
  /** @param {string} path */
  const load = (path) => import(pathToFileURL(join(root, 'dist/cli', path)).href)
  const [{ commands }, { describedOf, optionsOf }, { overview }] = await Promise.all(
    ['commands/all-commands.js', 'completion/described-commands.js', 'help.js'].map(load),
  )
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const described = /** @type {readonly Described[]} */ (await describedOf(commands))
  const [, title = ''] = overview(commands).split('\n', 1)[0].split(': ')
  return [
    `.TH HOLDFAST 1 "" "holdfast ${plain(version)}" "User Commands"`,
    '.SH NAME',
    `holdfast \\- ${plain(title)}`,
    '.SH SYNOPSIS',
    `${bold('holdfast')} ${flags('COMMAND')} [options]`,
    '.br',
    bold('holdfast --version'),
    '.SH COMMANDS',
    ...described.flatMap(({ name, summary }) => ['.TP', bold(name), line(summary)]),
    '.SH DESCRIPTION',
    ...described.flatMap((one) => commandLines(one, optionsOf(one))),
    '.SH SEE ALSO',
    line("docs/command-line.md and docs/operations.md in the package's folder"),
    '',
  ].join('\n')
}

/** @param {string} root */
export const buildMan = async (root) => {
  const file = join(root, MAN)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, await manPage(root))
}
