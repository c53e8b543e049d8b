import type { Call, LockRecord, Report, Seen } from './history-record.js'
import type { OutsideEvents } from './outside-events.js'

/** Calls that were seen in the lock's queue and got the lock in the end, in the order in which they were seen. */
class Queue {
  readonly #calls: Call[] = []
  #head = 0

  enter(call: Call): void {
    this.#calls.push(call)
  }

  leave(): void {
    this.#head++
  }

  /** The first that waits still, without those that `over` says to leave out for good. */
  first(over: (call: Call) => boolean): Call | undefined {
    for (let call = this.#calls[this.#head]; call !== undefined; call = this.#calls[++this.#head]) {
      if (!over(call)) return call
    }
    return undefined
  }
}

/**
 * A call seen in the queue before another was made is granted before it, unless it left, or its process was in trouble, or
 * the queue was lost. Shared neighbours may enter in any order.
 */
export const checkFairness = (lock: LockRecord, world: OutsideEvents, report: Report): void => {
  const steps = new Map<Seen, Call>()
  for (const call of lock.calls) {
    const granted = call.said[0]
    if (granted === undefined) continue
    steps.set(granted, call)
    if (call.queued !== undefined) steps.set(call.queued, call)
  }
  const shared = new Queue()
  const exclusive = new Queue()
  for (const seen of lock.events) {
    const call = steps.get(seen)
    if (call === undefined) continue
    if (seen === call.queued) {
      ;(call.shared ? shared : exclusive).enter(call)
      continue
    }
    const over = ({ said, queued, process }: Call): boolean => {
      const span = { from: queued?.event.at ?? 0, to: seen.event.at }
      return (said[0]?.rank ?? 0) <= seen.rank || world.troubled(process, span) || world.wiped(lock.name, span)
    }
    for (const queue of call.shared ? [exclusive] : [exclusive, shared]) {
      const waiting = queue.first(over)
      if (waiting?.queued === undefined || waiting.queued.rank > call.invoke.rank) continue
      const why = `Call ${waiting.id} was in the queue before call ${call.id} was made, but call ${call.id} was granted first.`
      const [first, second] = [waiting.queued.event, seen.event]
      if (!report({ rule: 'fairness', name: lock.name, first, second, why })) return
      queue.leave()
    }
  }
}
