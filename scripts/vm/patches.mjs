// Every change to fengari's source: what becomes Lua 5.1 instead of 5.3, and what becomes faster.
import { compilerPatches } from './compiler-patches.mjs'
import { corePatches } from './core-patches.mjs'
import { machinePatches } from './machine-patches.mjs'

/** File → patches, in order. A patch replaces the text `from` (`times` times) or the whole function `fn`. */
export const patches = { ...compilerPatches, ...corePatches, ...machinePatches }
