import type { Client } from '../../api/client.js'
import type { ListedLock } from '../../api/listing.js'
import { quoted } from '../../plain-text.js'
import { shellWord } from '../text/shell-word.js'

/** How many similar names are shown. */
const SIMILAR = 5

/** That the server has no such lock, and what else the user may have meant. */
export const notFound = async (
  client: Client,
  name: string,
  kind: ListedLock['kind'] | undefined,
  command: string,
): Promise<string> =>
  `no ${kind ?? 'lock'} ${quoted(name)} is held or waited for${await hintFor(client, name, command)}`

/** Nothing if the list may not be read. */
const hintFor = async (client: Client, name: string, command: string): Promise<string> => {
  if (/[*?]/.test(name)) return `; ${command} takes one name: for a pattern, use holdfast ls ${shellWord(name)}`
  const similar: string[] = []
  try {
    for await (const lock of client.list({ pattern: `*${name.replaceAll(/[*?[\]\\]/g, String.raw`\$&`)}*` }))
      if (similar.push(quoted(lock.name)) > SIMILAR) break
  } catch {
    return ''
  }
  const more = similar.length > SIMILAR ? ', …' : ''
  return similar.length === 0 ? '' : `; names that contain it: ${similar.slice(0, SIMILAR).join(', ')}${more}`
}
