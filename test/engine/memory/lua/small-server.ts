import { createHash } from 'node:crypto'
import { systemClock } from '#src/base/clock.js'
import { ReplyError, Status } from '#src/engine/memory/reply.js'
import { ScriptRuntime } from '#src/engine/memory/lua/runtime.js'
import { shown } from './replies.js'
import type { Bytes, Reply, ScriptHost } from '#src/engine/memory/reply.js'

/** The few commands that the scripts of these tests call. */
class SmallServer implements ScriptHost {
  readonly values = new Map<Bytes, Bytes>()

  call(argv: Bytes[]): Reply {
    const [name = '', key = '', ...rest] = argv
    switch (name.toLowerCase()) {
      case 'echo':
        return argv.length === 2 ? key : wrongCount()
      case 'set':
        this.values.set(key, rest[0] ?? '')
        return new Status('OK')
      case 'get':
        return this.values.get(key) ?? null
      case 'mget':
        return [key, ...rest].map((one) => this.values.get(one) ?? null)
      case 'incr': {
        const value = Number(this.values.get(key) ?? 0) + 1
        this.values.set(key, String(value))
        return value
      }
      case 'lpush':
        return new ReplyError('WRONGTYPE Operation against a key holding the wrong kind of value')
      case 'command':
        return [rest[0] === 'nosuch' ? null : ['known']]
      default:
        return new ReplyError('ERR Unknown Redis command called from script')
    }
  }
}

const wrongCount = (): ReplyError => new ReplyError('ERR Wrong number of args calling Redis command from script')

/** Runs scripts in process, with one key `s` that is a string. */
export class ScriptBench {
  readonly #server = new SmallServer()
  readonly #runtime = new ScriptRuntime(this.#server, systemClock)

  run(script: Bytes): string {
    this.#server.values.clear()
    this.#server.values.set('s', '1')
    return shown(this.#runtime.run(script, createHash('sha1').update(script, 'latin1').digest('hex'), [], []))
  }
}
