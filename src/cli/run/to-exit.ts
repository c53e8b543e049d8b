import type { Page } from '../command.js'
import { wrong } from '../help.js'
import { UsageError } from '../usage-error.js'
import { crash } from '../say.js'

const codeOf = async (page: Page, work: () => Promise<number>): Promise<number> => {
  try {
    if (process.platform === 'win32')
      throw new UsageError('this command needs process groups, which Windows does not have')
    return await work()
  } catch (error) {
    return error instanceof UsageError ? wrong(error, page) : crash(error)
  }
}

/** Ends this process with the exit code of the work. */
export const runToExit = async (page: Page, work: () => Promise<number>): Promise<number> =>
  // A connection that is still being made, or a process that still ends, must not keep this one.
  process.exit(await codeOf(page, work))
