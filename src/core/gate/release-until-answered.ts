import { EngineError } from '../../errors.js'
import { within } from '../../base/time-limit.js'
import type { Tenure } from '../hold/tenure.js'
import { NOT_HELD } from '../protocol/lock-protocol.js'
import { isWrongKind, mayHaveRun } from '../server/transient-or-unsure-errors.js'
import type { LineHost } from '../waiting/gate-host.js'
import { quoted } from '../../plain-text.js'
import { textOf } from '../../thrown.js'

/** The gate that the tenure was acquired through. */
type Releasing = Pick<LineHost, 'name' | 'kind' | 'runtime' | 'protocol' | 'leaveLine'>

/**
 * Frees on the server a tenure that the gate has dropped. False: it was lost, or the server did not answer in time. Then this
 * goes on in the background until the server answers, or the lease is over. `missed` is called for each unanswered step.
 */
export const releaseOnServer = async (gate: Releasing, tenure: Tenure, missed?: () => void): Promise<boolean> => {
  const { clock } = gate.runtime.options
  const since = clock.monotonic()
  gate.runtime.background.begun()
  let answer: number
  try {
    answer = await send(gate, tenure)
  } catch (error) {
    missed?.()
    const left = Math.max(0, since + gate.runtime.releases.ms - clock.monotonic())
    const freed = await within(clock, left, repeat(gate, tenure, error, missed))
    return freed ?? false
  }
  return answered(gate, tenure, answer, false)
}

const send = ({ protocol }: Releasing, { wire, served, passes }: Tenure): Promise<number> =>
  protocol.release(wire, served, passes + 1)

const hasRun = (error: unknown): boolean => error instanceof EngineError && mayHaveRun(error)

const repeat = async (gate: Releasing, tenure: Tenure, first: unknown, missed?: () => void): Promise<boolean> => {
  let unanswered = hasRun(first)
  const result = isWrongKind(first)
    ? { error: first }
    : await gate.runtime.retry.insist(
        () => send(gate, tenure),
        tenure.lostAt,
        (error) => {
          unanswered ||= hasRun(error)
          missed?.()
        },
      )
  if ('answer' in result) return answered(gate, tenure, result.answer, unanswered)
  // If the key holds another type now, the lock was not ours any more.
  if (isWrongKind(result.error)) return answered(gate, tenure, NOT_HELD, unanswered)
  gaveUp(gate, tenure, result.error)
  return false
}

/** `unanswered`: an earlier step may have freed it. */
const answered = (gate: Releasing, tenure: Tenure, answer: number, unanswered: boolean): boolean => {
  const held = answer !== NOT_HELD
  gate.runtime.background.ended()
  if (!held && !unanswered) tenure.notOurs()
  return held || unanswered
}

const gaveUp = (gate: Releasing, tenure: Tenure, cause: unknown): void => {
  const { runtime, protocol } = gate
  runtime.background.ended()
  runtime.fail(notReleased(gate.name, cause, tenure.lastsUntil - runtime.options.clock.monotonic()))
  gate.leaveLine(tenure)
  // The hold may outlast its lease: an unanswered step may have extended it, a place in the line has no lease, and the key of
  // a write lasts as long as the reads under it.
  void runtime.undo.acquire(protocol, tenure.wire, tenure.lease, undefined)
}

const notReleased = (name: string, cause: unknown, left: number): EngineError => {
  const code = cause instanceof EngineError ? cause.code : 'NO_REPLY'
  const until = `the server keeps it until its lease ends, in at most ${Math.max(0, Math.ceil(left))} ms`
  return new EngineError(code, `could not release ${quoted(name)}; ${until}: ${textOf(cause)}`, {
    target: name,
    cause,
  })
}
