import type { Runtime } from '../client/runtime.js'
import { forcedKey } from '../../keys.js'
import { coreListingPublish } from '../../lua/scripts.gen.js'

/** ms. How long others can read that a lock was released by force. */
export const FORCED_STAYS = 10_000
/** The field of the note: the client that did it. */
export const FORCED_BY = 'by'

const publish = async (runtime: Runtime, key: string): Promise<void> => {
  await runtime.link.run(
    coreListingPublish,
    [runtime.keyOf(forcedKey(key))],
    [FORCED_STAYS, 0, FORCED_BY, runtime.options.id],
  )
}

/** Tells others who released the lock with this key by force. No lock depends on it. If the server refuses it, it is left out. */
export const noteForced = (runtime: Runtime, key: string): void => {
  if (!runtime.closed) runtime.background.track(publish(runtime, key))
}
