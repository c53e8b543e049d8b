import { lineDeadlines, lineGrants, lineQueue, lineTurn, lockChannel } from '#src/keys.js'

interface Words {
  readonly keys: string[]
  readonly args: string[]
}

/** What the two scripts of the plain lock are given. */
export const bareLock = (name: string) => {
  const [queue, deadlines, turn] = [lineQueue(name), lineDeadlines(name), lineTurn(name)]
  const [taken, given] = [
    [name, queue, turn],
    [name, queue, deadlines, turn],
  ]
  const voices = [lockChannel(name), lineGrants(name), 'PUBLISH', '1', '0', '1']
  return {
    take: (owner: string, lease: number): Words => ({ keys: taken, args: [owner, String(lease)] }),
    give: (owner: string): Words => ({ keys: given, args: [owner, ...voices] }),
  }
}
