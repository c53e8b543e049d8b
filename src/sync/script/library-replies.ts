import type { FunctionLibrary, FunctionStats, LibraryFunction, RunningFunction } from '../../api/functions.js'
import { integer, text } from '../../lua/reply-shape.js'

/** Replies of FUNCTION. A driver may give a map as an object, or as names and values by turns. */

const entriesOf = (reply: unknown): [unknown, unknown][] => {
  if (reply instanceof Map) return [...(reply as Map<unknown, unknown>)]
  if (!Array.isArray(reply)) return typeof reply === 'object' && reply !== null ? Object.entries(reply) : []
  const list = reply as unknown[]
  return list.flatMap((name, i): [unknown, unknown][] => (i % 2 === 0 ? [[name, list[i + 1]]] : []))
}
const fieldsOf = (reply: unknown): ReadonlyMap<unknown, unknown> => new Map(entriesOf(reply))

const texts = (reply: unknown): readonly string[] =>
  (Array.isArray(reply) ? (reply as unknown[]) : reply instanceof Set ? [...(reply as Set<unknown>)] : []).filter(text)

const has = (reply: unknown, ...names: readonly string[]): boolean =>
  names.every((name) => text(fieldsOf(reply).get(name)))

export const isLibraries = (reply: unknown): reply is unknown[] =>
  Array.isArray(reply) && reply.every((one) => has(one, 'library_name', 'engine'))

export const isStats = (reply: unknown): reply is object => fieldsOf(reply).has('engines')

const functionOf = (reply: unknown): LibraryFunction => {
  const fields = fieldsOf(reply)
  const description = fields.get('description')
  return {
    name: String(fields.get('name')),
    flags: texts(fields.get('flags')),
    ...(text(description) && { description }),
  }
}

export const libraryOf = (reply: unknown): FunctionLibrary => {
  const fields = fieldsOf(reply)
  const [functions, code] = [fields.get('functions'), fields.get('library_code')]
  return {
    name: fields.get('library_name') as string,
    engine: fields.get('engine') as string,
    functions: (Array.isArray(functions) ? functions : []).filter((one) => has(one, 'name')).map(functionOf),
    ...(text(code) && { code }),
  }
}

const numberOf = (reply: unknown): number => (integer(reply) ? reply : 0)

const runningOf = (reply: unknown): RunningFunction | undefined => {
  const fields = fieldsOf(reply)
  const name = fields.get('name')
  if (!text(name)) return undefined
  return { name, command: texts(fields.get('command')), duration: numberOf(fields.get('duration_ms')) }
}

export const statsOf = (reply: unknown): FunctionStats => {
  const fields = fieldsOf(reply)
  const engines = entriesOf(fields.get('engines')).map(([, engine]) => fieldsOf(engine))
  const sum = (what: string): number => engines.reduce((all, engine) => all + numberOf(engine.get(what)), 0)
  const running = runningOf(fields.get('running_script'))
  return {
    libraries: sum('libraries_count'),
    functions: sum('functions_count'),
    ...(running !== undefined && { running }),
  }
}
