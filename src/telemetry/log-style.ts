import { Console } from 'node:console'
import { show } from '../check-arguments.js'
import { partOf, tell } from '../thrown.js'

export const LEVELS = ['debug', 'info', 'warn', 'error'] as const
/** How important a line is. */
export type Level = (typeof LEVELS)[number]

/** What a line says beside its message. Texts are plain already. */
export type Fields = Readonly<Record<string, string | number | boolean | undefined>>

/** Any of pino, winston and the console, or a logger that is called as one of these. */
export type AnyLogger = Readonly<Record<Level, (...args: never[]) => unknown>>

type Call = (logger: AnyLogger, level: Level, ...args: readonly unknown[]) => void
type Style = (message: string, fields: Fields) => readonly unknown[]

/** A logger that throws must not stop the locks. */
const call: Call = (logger, level, ...args) => {
  tell(
    () => (logger[level] as (...args: unknown[]) => unknown)(...args),
    () => undefined,
  )
}

/** pino takes the fields first. */
const fieldsFirst: Style = (message, fields) => [fields, message]
const messageFirst: Style = (message, fields) => [message, fields]
/** The text is plain already: only a quote could end it early, and look like another field. Reasons often quote a name. */
const inQuotes = (text: string): string =>
  text.includes("'") ? `"${text.replaceAll('"', String.raw`\u0022`)}"` : `'${text}'`

/** The console would spread fields over several lines. */
const oneLine: Style = (message, fields) => {
  const texts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${typeof value === 'string' ? inQuotes(value) : String(value)}`)
  return [message + texts.join('')]
}

const isPino = (logger: AnyLogger): boolean => typeof partOf(logger, 'bindings') === 'function'
const isConsole = (logger: AnyLogger): boolean => (logger as unknown) === console || logger instanceof Console

const styleOf = (logger: AnyLogger): Style => {
  if (isPino(logger)) return fieldsFirst
  return isConsole(logger) ? oneLine : messageFirst
}

/** Writes one line. */
export type Write = (level: Level, message: string, fields: Fields) => void

export const writerOf = (logger: AnyLogger, least: Level): Write => {
  const methods = LEVELS.filter((level) => typeof partOf(logger, level) !== 'function')
  if (methods.length > 0) throw new TypeError(`logger must have a method ${methods[0]}(), not ${show(logger)}`)
  const style = styleOf(logger)
  return (level, message, fields) => {
    if (LEVELS.indexOf(level) >= LEVELS.indexOf(least)) call(logger, level, ...style(`holdfast: ${message}`, fields))
  }
}
