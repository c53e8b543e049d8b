import type { Bytes, Reply, ScriptHost } from '../reply.js'

/** Runs Redis Lua scripts; one interpreter per server, its compiled scripts cached by text. */
export class ScriptRuntime {
  constructor(readonly host: ScriptHost) {}

  /**
   * Runs a script as EVAL does and converts its result as Redis does.
   * An error is returned as a ReplyError with the text that Redis 7 gives.
   */
  run(_source: Bytes, _sha: string, _keys: readonly Bytes[], _argv: readonly Bytes[]): Reply {
    throw new Error('not built yet')
  }
}
