/** A command. `run` gets the arguments after the command's name and returns the exit code. */
export interface Command {
  run(args: readonly string[]): Promise<number>
}

interface Entry {
  readonly name: string
  readonly usage: string
  readonly summary: string
  load(): Promise<Command>
}

/** All commands. Each one is loaded only when it is called, so that `--help` stays fast. */
export const commands: readonly Entry[] = [
  {
    name: 'run',
    usage: 'run NAME [options] -- COMMAND [ARG…]',
    summary: 'run a command while a lock is held',
    load: () => import('./run.js'),
  },
  {
    name: 'demo',
    usage: 'demo [--seconds N] [--plain] [--url URL]',
    summary: 'watch eight workers share three locks, and one crash',
    load: () => import('./demo.js'),
  },
  {
    name: 'config',
    usage: 'config check FILE [--json] [--strict]',
    summary: 'check a redisson.yml: which settings are used, and what is unsafe',
    load: () => import('./config.js'),
  },
]
