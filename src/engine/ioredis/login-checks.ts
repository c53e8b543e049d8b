import type { IoredisClient } from './client-type.js'
import { withoutCommand } from './translate-errors.js'
import { errorOf } from '../../thrown.js'

/** A server before Redis 6 knows no users; there ioredis connects as the only one. */
export const otherUser = async (client: IoredisClient, username: string): Promise<Error | undefined> => {
  try {
    const user = await client.call('ACL', 'WHOAMI')
    // The error names neither user, because in a URL the user is next to the password.
    return user === username
      ? undefined
      : new Error('ERR the connection is logged in as another user than the one in the URL')
  } catch (error) {
    // A user that may not run ACL WHOAMI is logged in, all the same.
    if (!/unknown command/i.test(errorOf(error).message)) return undefined
    return new Error('ERR the server has no users (Redis 6 and later do): leave the user out of the URL')
  }
}

/**
 * If a server has got a password meanwhile, it answers nothing without it, and closes the connection if a client sends a long
 * command.
 */
export const unknownUser = async (client: IoredisClient): Promise<Error | undefined> => {
  try {
    await client.call('PING')
    return undefined
  } catch (error) {
    const known = errorOf(error)
    return known.message.startsWith('NOAUTH') ? withoutCommand(known) : undefined
  }
}

/** If the server refused a SELECT, ioredis stays in its former database. If the user may not ask, the check is skipped. */
export const otherDatabase = async (client: IoredisClient): Promise<Error | undefined> => {
  const wanted = client.condition?.select ?? client.options?.db ?? 0
  if (wanted === 0) return undefined
  const info = await client.call('CLIENT', 'INFO').catch(() => '')
  const actual = /(?:^| )db=(\d+)/.exec(String(info))?.[1]
  if (actual === undefined || Number(actual) === wanted) return undefined
  return new Error(
    `ERR the connection passed in is in database ${actual}, not in ${wanted}: the server refused its SELECT`,
  )
}
