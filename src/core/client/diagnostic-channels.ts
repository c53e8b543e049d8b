import { channel, tracingChannel } from 'node:diagnostics_channel'
import type { DiagnosticTrace } from '../../api/diagnostics.js'

export const deadlocks = channel('holdfast:deadlock')
export const reconnects = channel('holdfast:reconnect')
export const channels = {
  acquire: channel('holdfast:acquire'),
  wait: channel('holdfast:wait'),
  grant: channel('holdfast:grant'),
  end: channel('holdfast:end'),
  renew: channel('holdfast:renew'),
  uncertain: channel('holdfast:uncertain'),
  lost: channel('holdfast:lost'),
  release: channel('holdfast:release'),
}
export const traces = {
  acquire: tracingChannel<object, DiagnosticTrace>('holdfast:acquire'),
  using: tracingChannel<object, DiagnosticTrace>('holdfast:using'),
}

/** Whether somebody listens for what happens to calls and their holds. */
export const callsHeard = (): boolean =>
  channels.acquire.hasSubscribers ||
  channels.wait.hasSubscribers ||
  channels.grant.hasSubscribers ||
  channels.end.hasSubscribers ||
  channels.release.hasSubscribers ||
  traces.acquire.hasSubscribers
