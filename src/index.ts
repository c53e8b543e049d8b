export type { Client, CloseOptions, ReadWriteLockOptions, RedissonVersion, SpinLockOptions } from './api/client.js'
export type { Codec, CodecName } from './api/codec.js'
export type { Deadlock, DeadlockedCall, Deadlocks } from './api/deadlock.js'
export type { Election, Leader, Leaders, LeadOptions, ObserveOptions, Term } from './api/election.js'
export type { Flight, FlightOptions, FlightResult, FlightRun, FlightRunOptions, FlightState } from './api/flight.js'
export type {
  FunctionLibrary,
  Functions,
  FunctionStats,
  LibraryFunction,
  ListLibrariesOptions,
  LoadOptions,
  RestoreOptions,
  RunningFunction,
} from './api/functions.js'
export type { FencedHold, Hold, HoldEnd, HoldState, MultiHold, Owner, ReleaseMode } from './api/hold.js'
export type { Kept } from './api/kept.js'
export type { CountDownLatch } from './api/latch.js'
export type {
  AcquireOptions,
  FencedLock,
  ForceExtendOptions,
  ForceReleaseOptions,
  HolderState,
  Lock,
  LockState,
  MultiLock,
  ReadWriteLock,
  SpinBackoff,
  WaiterState,
} from './api/lock.js'
export type {
  ListedHolder,
  ListedKind,
  ListedLock,
  ListedWait,
  ListedWaiter,
  ListOptions,
  ScanProgress,
  SharedKind,
  SkippedLock,
} from './api/listing.js'
export type { ClientEvents, ClientListener, Health, Logger } from './api/monitoring.js'
export type { OwnedFencedLock, OwnedLock, OwnedLockOptions } from './api/owned-lock.js'
export type { Rate, RateDecision, RateLimiter, RateOptions, RateTryOptions } from './api/rate-limiter.js'
export type { Returns, Script, ScriptInput, ScriptOptions, Scripts } from './api/script.js'
export type {
  Permit,
  PermitOptions,
  PermitSemaphore,
  Semaphore,
  SemaphoreOptions,
  SemaphoreUsingOptions,
} from './api/semaphore.js'
export type {
  SkipReason,
  SlotOptions,
  SlotResult,
  SlotRun,
  SlotRunner,
  Slots,
  SlotsOptions,
  SlotState,
} from './api/slots.js'
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
} from './api/topic.js'
export type { SetupOptions, WaitOptions } from './api/wait-options.js'
export type { WebLock, WebLockInfo, WebLockMode, WebLockOptions, WebLocks, WebLocksSnapshot } from './api/web-locks.js'
export type { LockEvent, LockEvents, LockEventType, Watched, WatchOptions } from './api/watching.js'
export type { Clock, Timer, TimerOptions } from './base/clock.js'
export { JavaValue } from './codecs/java-value.js'
export type { ClientOptions } from './config/client-options.js'
export type { RetryOptions } from './config/retry-option.js'
export { connect } from './connect.js'
export type {
  DeadlockMessage,
  DiagnosticEvent,
  DiagnosticFailure,
  DiagnosticMessage,
  DiagnosticTrace,
  ReconnectMessage,
} from './api/diagnostics.js'
export type { TlsOptions } from './engine/endpoint.js'
export type { WatchdogOptions } from './config/watchdog-option.js'
export {
  AcquireTimeoutError,
  BusyError,
  ClosedError,
  ConfigError,
  DeadlockError,
  EngineError,
  FlightError,
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
