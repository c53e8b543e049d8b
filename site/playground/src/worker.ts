import type { ToProcess, ToServer } from './messages.js'
import { work } from './process.js'
import { serve } from './server.js'

/** One program for the server and for the processes: a page loads the library once. */
onmessage = ({ data }: MessageEvent<ToProcess | ToServer>): void => {
  if ('start' in data || 'pause' in data) work(data)
  else serve(data)
}
