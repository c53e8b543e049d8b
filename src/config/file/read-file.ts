import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { ConfigError } from '../../errors.js'
import type { Filed } from '../client-options.js'
import { type Beside, settingsOf } from './options-of-file.js'
import { type Environment, REDISSON, SPRING } from './placeholders.js'
import { isSpring, springIn } from './spring.js'
import { Source } from './yaml-tree.js'
import { plainText } from '../../plain-text.js'
import { codeOf } from '../../thrown.js'

/** Reads Redisson's YAML or JSON, or Spring's application.yml that contains it or names its file. */
export const readConfig = async (file: string, env: Environment, beside: Beside = {}): Promise<Filed> => {
  const path = resolve(file)
  const text = await contentOf(path, file)
  const documents = new Source(file, text, env, REDISSON).documents()
  if (!isSpring(documents)) return settingsOf(documents, false, path, beside)
  // Spring's placeholders have another form.
  const source = new Source(file, text, env, SPRING)
  const spring = springIn(source, source.documents(), path)
  if ('config' in spring) return settingsOf([spring.config], spring.loose, path, beside)
  const inner = await contentOf(spring.path, spring.path)
  return settingsOf(new Source(spring.path, inner, env, REDISSON).documents(), false, spring.path, beside)
}

const contentOf = async (path: string, shown: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new ConfigError(`${plainText(shown, 300)} cannot be read: ${codeOf(error) ?? 'no such file'}`)
  }
}
