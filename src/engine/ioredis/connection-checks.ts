import type { IoredisClient } from './client.js'
import { withoutCommand } from './errors.js'
import { errorOf } from '../../thrown.js'

/** A server from before Redis 6 knows no users; ioredis goes on as its only one. */
export const otherUser = async (client: IoredisClient, username: string): Promise<Error | undefined> => {
  try {
    const user = await client.call('ACL', 'WHOAMI')
    // No word of who it is, or should be: by URL the user stands beside the password.
    return user === username ? undefined : new Error('ERR connected as another user than the one of the URL')
  } catch (error) {
    // Who may not ask is a user, all the same.
    if (!/unknown command/i.test(errorOf(error).message)) return undefined
    return new Error('ERR the server knows no users (Redis 6 does): leave the user out of the URL')
  }
}

/** A server that has a password by now answers nothing without it, and cuts the connection of whoever sends a long command. */
export const unknownUser = async (client: IoredisClient): Promise<Error | undefined> => {
  try {
    await client.call('PING')
    return undefined
  } catch (error) {
    const known = errorOf(error)
    return known.message.startsWith('NOAUTH') ? withoutCommand(known) : undefined
  }
}

/** A SELECT that the server refused leaves ioredis in the database that it was in. Who may not ask is believed. */
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
