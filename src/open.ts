import { openDriver, openThread } from '#open-driver'
import { platform } from '#platform'
import type { Client } from './api/client.js'
import { start } from './client.js'
import { readSettings } from './config/settings.js'
import type { ClientOptions } from './config/client-options.js'
import { retryConnect } from './retry-connect.js'

/** The implementation of `connect`. `partly`: a part of a cluster is enough, also if it says that the cluster is down. */
export const open = async (from?: string | URL | ClientOptions, partly = false): Promise<Client> => {
  const settings = await readSettings(from, platform.environment())
  const thread = await openThread(settings)
  return retryConnect(settings, async (limits) => start(settings, await openDriver(settings, partly), limits, thread))
}
