import type { Client } from '../api/client.js'
import type { Subscription, Topic } from '../api/topic.js'
import { checkFunction, checkMethods } from '../check-arguments.js'

/** Somebody asks you to release a lock. Anybody who may publish on your channel can ask, for any name: check that you hold it. */
export interface AskedToRelease {
  /** The name of the lock. */
  readonly name: string
  /** Its kind, such as `lock` or `fairLock`. */
  readonly kind: string
}

/** No longer message is read. */
const LONGEST = 6 * 65_536 + 1000

/** The channel of one client. Without a codec's marks, so that clients with different codecs understand one another. */
const topicOf = (client: Client, id: string): Topic<string> =>
  client.topic<string>(`holdfast:client:${id}:asked`, { codec: 'string' })

const read = (text: string): AskedToRelease | undefined => {
  if (text.length > LONGEST) return undefined
  try {
    const { name, kind } = JSON.parse(text) as Readonly<Record<string, unknown>>
    return typeof name === 'string' && typeof kind === 'string' ? { name, kind } : undefined
  } catch {
    return undefined
  }
}

/**
 * Calls the listener when somebody asks on the dashboard that this client releases a lock. Whether it does, and when, is up to you. The subscription ends with the
 * client, or when you end it.
 *
 * @example
 *     await onAsked(client, ({ name }) => importsByLock.get(name)?.finishSoon())
 */
export const onAsked = async (
  client: Client,
  listener: (asked: AskedToRelease) => Promise<void> | void,
): Promise<Subscription> => {
  checkMethods(client, 'client', ['topic'])
  checkFunction(listener, 'listener')
  return topicOf(client, client.id).subscribe((text) => {
    const asked = read(text)
    return asked && listener(asked)
  })
}

/** Resolves to whether a program of that client listens. */
export const askFor = async (client: Client, of: string, { name, kind }: AskedToRelease): Promise<boolean> => {
  const topic = topicOf(client, of)
  // A node of a cluster counts only those that are connected to it.
  return (await topic.publish(JSON.stringify({ name, kind }))) > 0 || (await topic.subscribers()) > 0
}
