import type { ClientOptions } from 'holdfast'
import { NEWEST } from './redisson.js'

/** A version of Redisson that the fair lock is held against, and what our clients beside it are told of it. */
export interface FairVersion {
  readonly version: string
  readonly ours: ClientOptions
  /** What a waiter without a limit is allowed, ms, as that version has it when nobody sets it. */
  readonly allowance: number
}

export const FAIR_VERSIONS: readonly FairVersion[] = [{ version: NEWEST, ours: {}, allowance: 300_000 }]
