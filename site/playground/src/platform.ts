import { platform as browser } from '#src/base/platform/browser.js'
import type { Platform } from '#src/base/platform/platform.js'

type Listener = (message: unknown) => void
type Channel = ReturnType<Platform['channel']>

const listeners = new Map<string, Listener>()

/** Hears what the library publishes on `node:diagnostics_channel` in Node. */
export const hear = (name: string, listener: Listener): void => void listeners.set(name, listener)

const channelOf = (name: string): Channel =>
  ({
    get hasSubscribers() {
      return listeners.has(name)
    },
    publish: (message: unknown) => listeners.get(name)?.(message),
  }) as Channel

export const platform: Platform = { ...browser, channel: (name) => channelOf(name) }
