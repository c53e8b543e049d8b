import type { Order } from './guardian-duty.js'
import type { Grip } from './occupy.js'
import type { OnLost } from './run-options.js'
import { type Processes, terminate } from './processes.js'
import { graceOf, paceOf, patienceOf, type Pulse, whatToDo } from './when-to-kill.js'

export interface EndOnLossOptions {
  readonly grip: Pick<Grip, 'remaining' | 'signal'>
  readonly onLost: OnLost
  readonly grace: number | undefined
  readonly processes: Pick<Processes, 'send' | 'target'>
  /** Tells the guardian. */
  readonly tell: (order: Order) => void
  /** Tells the user, once. */
  readonly say: (what: Word) => void
}

/** The command is being ended; or the hold was lost, and nothing is done about it. */
type Word = 'ends' | 'ignored'

/** Two timers for one moment: the guardian's is the later one. */
const AFTER_US = 20
/** How often KILL is sent, ms. A process may have been started in the very moment of the last one. */
const KILLS = 50

const orNever = (ms: number): number | null => (Number.isFinite(ms) ? ms : null)

/** Looks after the hold while the command runs, and ends the command before the lease does. */
export class EndOnLoss {
  readonly #options: EndOnLossOptions
  #most = 0
  #timer: NodeJS.Timeout | undefined
  /** When the KILL is due, once the command got its TERM. */
  #killAt = Infinity
  #termed = false
  #lost = false
  #over = false

  constructor(options: EndOnLossOptions) {
    this.#options = options
  }

  /** The command got its TERM or KILL. */
  get ends(): boolean {
    return this.#termed
  }

  /** What the guardian must know before the command begins. */
  get order(): Order {
    const pulse = this.#pulse()
    const { target } = this.#options.processes
    const grace = graceOf(pulse)
    const [termIn, killIn] = this.#termed ? [Infinity, this.#killIn] : this.#guardianTimes(pulse, grace)
    return { target, termIn: orNever(termIn), killIn: orNever(killIn + AFTER_US), grace, termed: this.#termed }
  }

  /** From now on the hold is looked at, until `stop`. */
  start(): void {
    this.#options.grip.signal.addEventListener('abort', this.check)
    this.check()
  }

  stop(): void {
    this.#over = true
    clearTimeout(this.#timer)
    this.#options.grip.signal.removeEventListener('abort', this.check)
  }

  /** Looks now. Called by the timer, when the hold is lost, and first thing when this process was stopped and goes on. */
  readonly check = (): void => {
    if (this.#over) return
    const pulse = this.#pulse()
    const word = this.#termed ? undefined : this.#judge(pulse)
    if (this.#killIn <= 0) this.#options.processes.send('SIGKILL')
    this.#options.tell(this.order)
    // To ask may have been what found the loss out, and that calls this function as well.
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.check, this.#pause(pulse))
    // Last, because it waits for a reader of stderr. Meanwhile the guardian does the rest.
    if (word !== undefined) this.#options.say(word)
  }

  /** The guardian ends the command: this process stood still while the time for that came. */
  readonly overtaken = (): void => {
    if (this.#over || this.#termed) return
    this.#ends(patienceOf(this.#pulse()))
    this.check()
  }

  /** All processes have ended: whether the hold was lost by then. */
  settle(): boolean {
    if (this.#options.grip.remaining() <= 0) this.#lost = true
    return this.#lost
  }

  /** ms until the KILL is due. */
  get #killIn(): number {
    return this.#killAt - performance.now()
  }

  /** The guardian's turn comes only if this process had its own, and did not use it. */
  #guardianTimes({ left, onLost }: Pulse, grace: number): [termIn: number, killIn: number] {
    if (onLost === 'ignore') return [Infinity, Infinity]
    return [onLost === 'term' ? left - grace / 2 : Infinity, left]
  }

  /** ms until the next look. */
  #pause(pulse: Pulse): number {
    const { left, most, onLost } = pulse
    if (this.#termed) return Math.min(Math.max(this.#killIn, 5), KILLS)
    if (onLost === 'ignore') return paceOf(most)
    return Math.min(paceOf(most), Math.max(left - (onLost === 'term' ? graceOf(pulse) : 0), 5))
  }

  #pulse(): Pulse {
    const { grip, grace, onLost } = this.#options
    const left = grip.remaining()
    this.#most = Math.max(this.#most, left)
    return { left, most: this.#most, grace, onLost }
  }

  /** Returns what the user has to know. */
  #judge(pulse: Pulse): Word | undefined {
    const verdict = whatToDo(pulse)
    if (verdict === 'fine') {
      if (pulse.left > 0 || this.#lost) return undefined
      this.#lost = true
      return 'ignored'
    }
    this.#ends(verdict === 'kill' ? 0 : patienceOf(pulse))
    if (verdict === 'term') terminate(this.#options.processes)
    return 'ends'
  }

  #ends(patience: number): void {
    this.#lost = true
    this.#termed = true
    this.#killAt = performance.now() + patience
  }
}
