/** A process in which very many processes exist only by a virtual clock: `virtual.js`. Answers a load with its figures. */
import { type VirtualLoad, virtualCrowd } from './virtual-crowd.js'

process.on('message', (message: VirtualLoad | 'end') => {
  if (message === 'end') process.exit()
  void virtualCrowd(message).then((figures) => process.send?.(figures))
})
// The bench was interrupted, or is through with this one.
process.once('disconnect', () => process.exit())
process.send?.('ready')
