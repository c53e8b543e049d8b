import type { AcquireOptions } from '../../api/lock.js'
import { UnitOfWork } from '../../base/owner.js'
import { enclosing, surroundings } from '../../base/scope.js'
import { checkAcquire } from '../../check-arguments.js'
import type { Runtime } from '../client/runtime.js'
import type { Request } from '../waiting/acquire-request.js'
import type { LockKind } from './lock-kind.js'

/** The lock that the call is for. */
interface Requested {
  readonly name: string
  readonly kind: LockKind
  readonly runtime: Runtime
}

/**
 * What a call asks for, by its options. `wait`: if they do not say how long. `lends`: whether calls inside a `using` of that other lock
 * have its owner, if they name none.
 */
export const requestOf = (
  { name, kind, runtime }: Requested,
  options: AcquireOptions | undefined,
  wait: number,
  lends: (lock: object) => boolean,
): Request => {
  const checked = checkAcquire(options)
  runtime.checkTakes(name)
  checked.signal?.throwIfAborted()
  const owner = (checked.owner as UnitOfWork | undefined) ?? enclosing(lends)?.owner
  const { lease, renew = false } = checked
  return {
    owner: owner ?? new UnitOfWork(),
    explicit: owner !== undefined,
    around: surroundings(),
    reentrant: kind.reentrant,
    terms: lease === undefined ? runtime.watched : { lease, watched: renew },
    release: checked.release ?? runtime.options.release,
    wait: checked.wait ?? wait,
    signal: checked.signal,
    backoff: kind.backoff,
    call: undefined,
  }
}
