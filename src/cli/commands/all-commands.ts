import type { Entry } from '../command.js'

/** All commands. Each one is loaded only when it is called, so that `--help` stays fast. */
export const commands: readonly Entry[] = [
  { name: 'run', summary: 'run a command while a lock is held', load: () => import('./run.js') },
  {
    name: 'once',
    summary: 'run a command once for each slot, for example once a night',
    load: () => import('./once.js'),
  },
  { name: 'ls', summary: 'list the locks that are held or waited for', load: () => import('./ls.js') },
  { name: 'show', summary: 'show the holders and the line of one lock', load: () => import('./show.js') },
  { name: 'watch', summary: 'show what happens to a lock, or to all', load: () => import('./watch.js') },
  { name: 'tree', summary: 'show which call waits for which, and deadlocks', load: () => import('./tree.js') },
  { name: 'top', summary: 'follow the locks in the terminal', load: () => import('./top.js') },
  { name: 'dashboard', summary: 'show the locks in your browser', load: () => import('./dashboard.js') },
  { name: 'unlock', summary: 'release a lock that another process holds', load: () => import('./unlock.js') },
  { name: 'doctor', summary: 'find what endangers locks on this server', load: () => import('./doctor.js') },
  { name: 'bench', summary: 'measure how fast locks are on this server', load: () => import('./bench.js') },
  {
    name: 'config',
    summary: 'check a redisson.yml: which settings are used, and what is unsafe',
    load: () => import('./config.js'),
  },
  {
    name: 'migrate',
    summary: 'find uses of other lock libraries, and what they are called here',
    load: () => import('./migrate.js'),
  },
  {
    name: 'demo',
    summary: 'watch eight workers share three locks, and one crash',
    load: () => import('./demo.js'),
  },
  { name: 'completion', summary: 'print a completion script for your shell', load: () => import('./completion.js') },
  { name: 'help', summary: 'explain a command', load: () => import('./help.js') },
]
