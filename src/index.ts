export { type Client, type CloseOptions, type SpinLockOptions, connect } from './client.js'
export type { ClientOptions } from './config/settings.js'
export type { Clock, Timer, TimerOptions } from './core/clock.js'
export type { DiagnosticEvent, DiagnosticMessage } from './core/diagnostics.js'
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
  NotOwnerError,
} from './errors.js'
export type {
  AcquireOptions,
  ClientEvents,
  CountDownLatch,
  FencedHold,
  FencedLock,
  HolderState,
  Hold,
  HoldState,
  Kept,
  Lock,
  LockState,
  Logger,
  OwnedLock,
  Owner,
  RedissonVersion,
  Permit,
  PermitOptions,
  PermitSemaphore,
  Semaphore,
  SemaphoreOptions,
  WaitOptions,
  SpinBackoff,
  WaiterState,
} from './types.js'
