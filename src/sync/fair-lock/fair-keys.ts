import { fairDeadlines, fairQueue } from '../../keys.js'
import type { LineKeys } from '../lock/inspect-line.js'

/** The hash of a plain lock, the list of the waiters, and their deadlines. */
export const fairKeys = (key: string): LineKeys => [key, fairQueue(key), fairDeadlines(key)]
