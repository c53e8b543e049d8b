import { isatty } from 'node:tty'
import { LockLostError } from '../../errors.js'
import { quoted } from '../../plain-text.js'
import { textOf } from '../../thrown.js'
import { closed, opened } from '../connection.js'
import { reportError } from '../report-error.js'
import { ChildCommand } from './child-command.js'
import { environmentOf } from './child-environment.js'
import { codeOfCommand, type Ended, EXIT, StartError } from '../exit-code.js'
import { GuardianHandle } from './guardian-handle.js'
import { EndOnLoss } from './end-on-loss.js'
import type { Grip, Occupy, Over } from './occupy.js'
import type { Job } from './run-options.js'
import { Processes } from './processes.js'
import { crash, say } from '../say.js'
import { IncomingSignals, type Stopped } from './incoming-signals.js'
import { endLeftovers } from './end-leftovers.js'

/** ms from TERM to KILL for what the command leaves behind. */
const GRACE = 5000

/** What the parts of one run share. */
interface Run {
  readonly options: Job
  readonly occupy: Occupy
  readonly signals: IncomingSignals
  readonly guardian: GuardianHandle
  /** The command uses the terminal, and shares the process group of this process. */
  readonly terminal: boolean
}

/** Runs the command while something is held. Resolves to the exit code. `conflict`: see `codeOfError`. */
export const wholeRun = async (options: Job, occupy: Occupy, conflict?: number): Promise<number> => {
  const terminal = isatty(0)
  const signals = new IncomingSignals(terminal)
  process.on('uncaughtException', crash)
  const guardian = new GuardianHandle()
  try {
    return await connected({ options, occupy, signals, guardian, terminal })
  } catch (error) {
    return failed(error, signals.stop, conflict)
  } finally {
    await guardian.end()
    signals.off()
  }
}

/** The exit code for an error, of which the user learns here. */
const failed = (error: unknown, stop: AbortSignal, conflict: number | undefined): number => {
  // Whatever else went wrong while it gave up.
  if (stop.aborted) return (stop.reason as Stopped).code
  return reportError(error, conflict)
}

const connected = async (run: Run): Promise<number> => {
  const { options, signals } = run
  const client = await Promise.race([opened(options.client), whenStopped(signals.stop)])
  client.on('error', (error) => {
    // While the command runs, stderr is the command's, and to wait for its reader would delay the next renewal.
    if (!signals.forwards) say(textOf(error))
  })
  try {
    return await run.occupy(client, signals.stop, (grip) => held(run, grip))
  } finally {
    await closed(client)
  }
}

/** Rejects with the `Stopped` of a signal that came before the command has begun. */
export const whenStopped = (stop: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const onStop = (): void => reject(stop.reason)
    if (stop.aborted) onStop()
    else stop.addEventListener('abort', onStop, { once: true })
  })

/** It is held: the command is prepared, started and looked after. */
const held = async (run: Run, grip: Grip): Promise<Over> => {
  const { options, signals, terminal } = run
  signals.stop.throwIfAborted()
  const env = environmentOf(process.env, grip.env)
  const command = new ChildCommand({ command: options.command, env, terminal })
  const { target } = command
  if (target === undefined) return startFailed(await command.ended)
  const processes = new Processes(target)
  const keeper = keeperOf(run, grip, processes)
  await mayStart(run, { grip, command, keeper })
  // Nothing else runs between the last check and the end of these lines, so no signal and no loss can come between.
  command.go()
  signals.forward(processes)
  signals.onContinue = keeper.check
  run.guardian.onActs = keeper.overtaken
  keeper.start()
  try {
    return await untilOver(run, { grip, command, processes, keeper })
  } catch (error) {
    // The lock must not be released beside the command.
    return crash(error)
  }
}

/** The parts of a run that has begun. */
interface Begun {
  readonly grip: Grip
  readonly command: ChildCommand
  readonly processes: Processes
  readonly keeper: EndOnLoss
}

/** Resolves when no process of the command is left. */
const untilOver = async ({ options, signals, guardian }: Run, begun: Begun): Promise<Over> => {
  const { grip, command, processes, keeper } = begun
  const ended = await command.ended
  processes.commandEnded()
  // If the guardian has ended it, its word is there, but not read yet.
  await new Promise(setImmediate)
  await endLeftovers({ processes, grace: options.grace ?? GRACE, ending: () => keeper.ends, say })
  const lost = keeper.settle()
  keeper.stop()
  signals.ignore()
  // The ids may belong to other processes soon.
  await guardian.end()
  const code = codeOfCommand(ended)
  // If it could not be executed here, perhaps it can elsewhere.
  const began = code !== EXIT.cannotExecute && code !== EXIT.notFound
  return lost ? reportLoss(ended, grip) : { code, done: ended.signal === null && began }
}

const keeperOf = ({ options, guardian }: Run, grip: Grip, processes: Processes): EndOnLoss => {
  const name = quoted(nameOf(grip))
  return new EndOnLoss({
    grip,
    processes,
    onLost: options.onLost,
    grace: options.grace,
    tell: (order) => guardian.tell(order),
    say: (what) =>
      say(
        what === 'ends'
          ? `cannot keep ${name}: ending the command`
          : `lost ${name}: the command goes on (--on-lost ignore)`,
      ),
  })
}

/** Rejects, and ends what was prepared, if the command must not be started. */
const mayStart = async (
  { signals, guardian }: Run,
  { grip, command, keeper }: Omit<Begun, 'processes'>,
): Promise<void> => {
  const watches = await guardian.watches(keeper.order)
  if (watches && !signals.stop.aborted && grip.remaining() > 0) return
  command.cancel()
  await command.ended
  signals.stop.throwIfAborted()
  if (!watches) throw new StartError('could not start the process that guards the command')
  throw new LockLostError(nameOf(grip), 'its lease ended before the command was started')
}

const nameOf = ({ env }: Grip): string => env['HOLDFAST_NAME'] ?? ''

const startFailed = (ended: Ended): Over => {
  say(`could not start a process: ${textOf(ended.error)}`)
  return { code: codeOfCommand(ended), done: false }
}

const reportLoss = (ended: Ended, grip: Grip): Over => {
  say(`the command ended with exit code ${codeOfCommand(ended)}, but ${quoted(nameOf(grip))} was lost before`)
  return { code: EXIT.lost, done: false }
}
