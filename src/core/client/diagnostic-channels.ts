import { platform } from '#platform'
import type { DiagnosticTrace } from '../../api/diagnostics.js'

export const deadlocks = platform.channel('holdfast:deadlock')
export const reconnects = platform.channel('holdfast:reconnect')
export const channels = {
  acquire: platform.channel('holdfast:acquire'),
  wait: platform.channel('holdfast:wait'),
  grant: platform.channel('holdfast:grant'),
  end: platform.channel('holdfast:end'),
  renew: platform.channel('holdfast:renew'),
  uncertain: platform.channel('holdfast:uncertain'),
  lost: platform.channel('holdfast:lost'),
  release: platform.channel('holdfast:release'),
}
export const traces = {
  acquire: platform.tracingChannel<object, DiagnosticTrace>('holdfast:acquire'),
  using: platform.tracingChannel<object, DiagnosticTrace>('holdfast:using'),
}

/** Whether somebody listens for what happens to calls and their holds. */
export const callsHeard = (): boolean =>
  channels.acquire.hasSubscribers ||
  channels.wait.hasSubscribers ||
  channels.grant.hasSubscribers ||
  channels.end.hasSubscribers ||
  channels.release.hasSubscribers ||
  traces.acquire.hasSubscribers
