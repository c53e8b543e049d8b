import { GuardianDuty, type Order } from './guardian-duty.js'
import { Processes } from './processes.js'

/**
 * The process that ends the command if `holdfast run` is killed or stands still. It is in a session of its own, so that nothing that is typed in
 * a terminal reaches it.
 */

process.title = 'holdfast guardian'
// If somebody signals every process of holdfast, the other one passes the signal on. This one is there until that one has ended.
for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const) process.on(signal, () => undefined)

const say = (word: 'heard' | 'acts'): void => {
  if (process.connected) process.send?.(word)
}

const duty = new GuardianDuty({
  processesOf: (target) => new Processes(target),
  acts: () => say('acts'),
  done: () => process.exit(0),
})
let heard = false
process.on('message', (message: unknown) => {
  duty.hear(message as Order)
  if (!heard) say('heard')
  heard = true
})
process.once('disconnect', () => duty.alone())
