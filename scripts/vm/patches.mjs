// Every change to fengari's source: what becomes Lua 5.1 instead of 5.3, and what becomes faster.
import { readFileSync } from 'node:fs'
import { defs } from './patches/defs.mjs'
import { lapi } from './patches/lapi.mjs'
import { lcode } from './patches/lcode.mjs'
import { ldebug } from './patches/ldebug.mjs'
import { ldo } from './patches/ldo.mjs'
import { lfunc } from './patches/lfunc.mjs'
import { llex } from './patches/llex.mjs'
import { llimits } from './patches/llimits.mjs'
import { lobject } from './patches/lobject.mjs'
import { lparser } from './patches/lparser.mjs'
import { lstate } from './patches/lstate.mjs'
import { lstring } from './patches/lstring.mjs'
import { ltm } from './patches/ltm.mjs'
import { luaconf } from './patches/luaconf.mjs'
import { lvm } from './patches/lvm.mjs'
import { lzio } from './patches/lzio.mjs'

/** File → patches, in order. A patch replaces the text `from` (`times` times) or the whole function `fn`. */
export const patches = {
  'llex.js': llex,
  'lparser.js': lparser,
  'lcode.js': lcode,
  'defs.js': defs,
  'luaconf.js': luaconf,
  'lstring.js': lstring,
  'lobject.js': lobject,
  'llimits.js': llimits,
  'lstate.js': lstate,
  'lfunc.js': lfunc,
  'ltm.js': ltm,
  'lzio.js': lzio,
  'lvm.js': lvm,
  'ldo.js': ldo,
  'ldebug.js': ldebug,
  'lapi.js': lapi,
  // Replaced whole: 5.1's tables differ in their very layout.
  'ltable.js': [{ whole: true, to: readFileSync(new URL('table.js', import.meta.url), 'utf8') }],
}
