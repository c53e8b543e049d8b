export type { Client, CloseOptions, ReadWriteLockOptions, SpinLockOptions } from './client.js'
export type { Codec, CodecName } from './codecs/codec.js'
export { JavaValue } from './codecs/java-value.js'
export type { ClientOptions } from './config/client-options.js'
export type { RetryOptions } from './config/retry.js'
export type { Election, Leader, Leaders, LeadOptions, ObserveOptions, Term } from './election-types.js'
export { connect } from './connect.js'
export type { Clock, Timer, TimerOptions } from './base/clock.js'
export type { TlsOptions } from './engine/target.js'
export type { DiagnosticEvent, DiagnosticMessage } from './core/client/lock-events.js'
export {
  AcquireTimeoutError,
  BusyError,
  ClosedError,
  ConfigError,
  DeadlockError,
  EngineError,
  type EngineErrorCode,
  type ErrorCode,
  HoldfastError,
  LockLostError,
  type MemberFailure,
  MembersError,
  NotInitializedError,
  ReplicationError,
  NotOwnerError,
} from './errors.js'
export type { Returns, Script, ScriptInput, ScriptOptions, Scripts } from './script-types.js'
export type {
  SkipReason,
  SlotOptions,
  SlotResult,
  SlotRun,
  SlotRunner,
  Slots,
  SlotsOptions,
  SlotState,
} from './slot-types.js'
export type {
  MessageListener,
  Messages,
  MessagesOptions,
  PatternTopic,
  PatternTopicOptions,
  SubscribeOptions,
  Subscription,
  Topic,
  TopicOptions,
} from './topic-types.js'
export type { Permit, PermitOptions, PermitSemaphore, Semaphore } from './permit-types.js'
export type {
  AcquireOptions,
  ClientEvents,
  ClientListener,
  CountDownLatch,
  FencedHold,
  FencedLock,
  Health,
  Hold,
  HolderState,
  HoldState,
  Kept,
  Lock,
  LockState,
  Logger,
  MultiHold,
  MultiLock,
  OwnedFencedLock,
  OwnedLock,
  OwnedLockOptions,
  Owner,
  Rate,
  RateDecision,
  RateLimiter,
  RateOptions,
  RateTryOptions,
  ReadWriteLock,
  RedissonVersion,
  SemaphoreOptions,
  SetupOptions,
  SpinBackoff,
  WaiterState,
  WaitOptions,
} from './types.js'
