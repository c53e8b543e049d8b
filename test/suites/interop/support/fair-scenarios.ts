import type { Program } from './programs.js'

/**
 * Single steps of Redisson's fair lock, each one script, without its wait loop: what a loop would do is written out.
 *
 *   A ask [wait] [lease]   the numeric form: takes it, or queues; wait -1 is the lock's own allowance
 *   A try [wait] [lease]   the try-once form
 *   A leave [wait]         what a waiter does whose time is over
 *   A unlock, A force      as a caller calls them
 *   sleep ms
 *   server WORD…           a command of an operator's; KEY, QUEUE and SCORES are the lock's keys, A the owner A
 */
export const SCENARIOS: Readonly<Record<string, Program>> = {
  'one after the other':
    'A ask; A ask; B ask; C ask; D ask; B ask; D ask; E try; A unlock; A unlock; C ask; E try; E ask; ' +
    'B ask; C ask; B unlock; C try; C unlock; D ask; D unlock; E ask; E unlock',
  'a waiter who sets a limit':
    'A ask 5000; B ask 5000; C ask 10000; D ask 5000; C leave 10000; B ask 5000; D ask 5000; A unlock; B ask 5000; D ask 5000; B unlock; D ask 5000; D unlock',
  'limits of 0': 'A ask 0; B ask 0; C ask 0; B leave 0; A unlock; C ask 0; C unlock',
  'the head leaves': 'A ask; B ask; C ask; D ask; B leave; C ask; A unlock; C ask; C unlock; D ask; D unlock',
  'one in the middle leaves': 'A ask; B ask; C ask; D ask; C leave; A unlock; B ask; B unlock; D ask; D unlock',
  'the tail leaves': 'A ask; B ask; C ask; D ask; D leave; A unlock; B ask; B unlock; C ask; C unlock',
  'one leaves who does not wait': 'A ask; B ask; C leave; A leave; A unlock; B ask; B unlock',
  'the head leaves when it is its turn': 'A ask; B ask; C ask; A unlock; B leave; C ask; C unlock',
  'dead waiters': 'A ask -1 400; B ask 300; C ask 300; sleep 800; D ask; sleep 500; D ask; D unlock',
  'a living waiter is dropped':
    'A ask -1 400; B ask 200; C ask 60000; A ask -1 30000; sleep 900; D ask; B ask 200; A unlock; A unlock; C ask; C unlock; D ask; D unlock; B ask; B unlock',
  'long asked for, allowance over': 'A ask -1 1000; B ask 100; sleep 600; B ask 100; sleep 700; B ask 100; B unlock',
  'taken away': 'A ask; B ask; A force; B force; C force; B ask; A unlock; B unlock; A force',
  'given back where nobody holds it': 'A unlock; A ask; B ask; A force; C unlock; B unlock; B ask; B unlock; B unlock',
  'given back after it ran out': 'A ask -1 300; B ask; sleep 500; A unlock; B ask; B unlock',
  'given back by who does not hold it': 'A ask; B ask; B unlock; C unlock; A unlock; B ask; B unlock',
  'an entry without a score': 'A ask; B ask; server ZREM SCORES B; C ask; A unlock; C ask; B ask; C ask; D try',
  'the last entry without a score': 'A ask; B ask; C ask; server ZREM SCORES C; D ask; A unlock; B ask',
  'a score without an entry': 'A ask; B ask; server LREM QUEUE 0 B; B ask; C ask; A unlock; B ask; C ask; C unlock',
  'a holder without an expiry': 'A ask; server PERSIST KEY; B ask; C ask; A unlock; B ask; B unlock; C ask; C unlock',
  removed: 'A ask; B ask; A delete; B ask; B unlock',
}
