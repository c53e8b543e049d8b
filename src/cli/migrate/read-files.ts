import type { Dirent } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { partOf } from '../../thrown.js'

const SOURCE = /\.[cm]?[jt]sx?$|^package\.json$/i
const LEFT_OUT: readonly string[] = ['node_modules', '.git']
/** Longer files are made by programs. */
const LONGEST = 1_048_576
/** How many files are read at a time. */
const AT_ONCE = 32

/** A file that was read. */
export interface ReadFile {
  readonly path: string
  readonly text: string
}

/** Every source file below the folder, in the order of the paths. It follows no symbolic link, so it cannot go round in a circle. */
export async function* sourceFiles(folder: string): AsyncGenerator<string, undefined> {
  const entries = await readdir(folder, { withFileTypes: true })
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) yield* within(folder, entry)
  return undefined
}

async function* within(folder: string, entry: Dirent): AsyncGenerator<string, undefined> {
  const path = join(folder, entry.name)
  if (entry.isFile() && SOURCE.test(entry.name)) yield path
  if (!entry.isDirectory() || LEFT_OUT.includes(entry.name)) return undefined
  try {
    yield* sourceFiles(path)
  } catch (error) {
    // It was removed meanwhile, or this user may not read it.
    if (!isAbsent(error)) throw error
  }
  return undefined
}

const ABSENT: readonly unknown[] = ['ENOENT', 'EACCES', 'EPERM', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP']
const isAbsent = (error: unknown): boolean => ABSENT.includes(partOf(error, 'code'))

/** The text of the file. Undefined: it is too long, has no text, or cannot be read. */
const textIn = async (path: string): Promise<string | undefined> => {
  try {
    const file = await open(path)
    try {
      const stat = await file.stat()
      if (!stat.isFile() || stat.size > LONGEST) return undefined
      const text = await file.readFile('utf8')
      return text.includes('\0') ? undefined : text
    } finally {
      await file.close()
    }
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

/** Reads files, some ahead of the one that is asked for, and yields them in their order. */
export async function* readFiles(paths: AsyncIterable<string>): AsyncGenerator<ReadFile, undefined> {
  const ahead: { readonly path: string; readonly text: Promise<string | undefined> }[] = []
  for await (const path of paths) {
    const text = textIn(path)
    // If the loop ends early, nobody waits for it.
    text.catch(() => undefined)
    ahead.push({ path, text })
    if (ahead.length === AT_ONCE) yield* readOf(ahead.splice(0, 1))
  }
  yield* readOf(ahead)
  return undefined
}

async function* readOf(
  files: readonly { readonly path: string; readonly text: Promise<string | undefined> }[],
): AsyncGenerator<ReadFile, undefined> {
  for (const { path, text } of files) {
    const read = await text
    if (read !== undefined) yield { path, text: read }
  }
  return undefined
}
