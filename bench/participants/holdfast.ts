import { connect } from 'holdfast'
import { versionOf } from '../support/paths.js'
import type { Participant } from './participant.js'

export const holdfast: Participant = {
  name: 'holdfast',
  family: 'holdfast',
  file: 'bench/participants/holdfast.ts',
  setup: 'connect(url), all defaults: a lease of 30 s that the watchdog renews',
  kinds: ['lock'],
  waits: true,
  memory: true,
  // Its presence key.
  direct: ['set'],
  version: () => versionOf('.'),
  async open(url) {
    const client = await connect(url)
    return {
      lock: (_kind, name) => client.lock(name),
      close: () => client.close(),
    }
  },
}
