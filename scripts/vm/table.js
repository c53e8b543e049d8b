'use strict'

/*
 ** Lua 5.1's tables: an array part and a hash part laid out exactly as ltable.c lays them out, because the order in
 ** which pairs() walks a table and the length of one with holes follow from it, and scripts show both.
 ** Only finding a key is different: a scan over few nodes or a Map over many, instead of hashing the key's bytes.
 */
const {
  constant_types: { LUA_TNIL, LUA_TBOOLEAN, LUA_TNUMFLT, LUA_TLNGSTR },
} = require('./defs.js')
const ldebug = require('./ldebug.js')
const lobject = require('./lobject.js')

const MAXBITS = 26
const MAXASIZE = 2 ** MAXBITS
/* up to so many nodes a scan is faster than a Map */
const SCANNED = 8

/* Bytes that a script may still take, in all: the host sets it, and raises an error when it is used up. Of what short-lived
   tables and strings take nothing is given back; but a short string is not counted. */
const meter = { room: Infinity, full: null }
const TABLE = 96
const SLOT = 64
const NODE = 160
const LONGTEXT = 65536

const take = (bytes) => {
  if ((meter.room -= bytes) < 0) meter.full()
}

const taketext = (text) => {
  if (text.length > LONGTEXT) take(text.length)
}

class Node {
  constructor(key, type, at) {
    this.key = key
    this.type = type
    this.value = new lobject.TValue(LUA_TNIL, null)
    this.next = null
    this.at = at
  }
}

class Table {
  constructor() {
    this.metatable = null
    this.flags = ~0
    this.readonly = false
    this.array = []
    this.nodes = NONE
    this.lastfree = 0
    this.index = null
    this.id = 0
  }
}

const NONE = []

const ceillog2 = (x) => (x <= 1 ? 0 : 32 - Math.clz32(x - 1))

const float = new Float64Array(1)
const words = new Uint32Array(float.buffer)

const hashnum = function (n, size) {
  if (n === 0) return 0
  float[0] = n
  return ((words[0] + words[1]) >>> 0) % ((size - 1) | 1)
}

const hashstring = function (s) {
  const l = s.length
  const step = (l >> 5) + 1
  let h = l
  for (let i = l; i >= step; i -= step) h = h ^ ((h << 5) + (h >>> 2) + s.charCodeAt(i - 1))
  return h >>> 0
}

/* objects hash by address in C; here by the order in which they were first used as keys */
const ids = new WeakMap()
let lastid = 0
const hashobject = function (o) {
  if (o === null) return 0
  let id = ids.get(o)
  if (id === undefined) ids.set(o, (id = ++lastid))
  return id
}

const mainposition = function (key, type, size) {
  switch (type) {
    case LUA_TNUMFLT:
      return hashnum(key, size)
    case LUA_TLNGSTR:
      return hashstring(key) & (size - 1)
    case LUA_TBOOLEAN:
      return (key ? 1 : 0) & (size - 1)
    default:
      return hashobject(key) % ((size - 1) | 1)
  }
}

const findnode = function (t, key) {
  if (t.index !== null) return t.index.get(key)
  const nodes = t.nodes
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i]
    if (node !== null && node.key === key) return node
  }
  return undefined
}

const luaH_getstr = function (t, key) {
  const node = findnode(t, key)
  return node === undefined ? lobject.luaO_nilobject : node.value
}

const luaH_getint = function (t, key) {
  const slot = t.array[key - 1]
  return slot !== undefined ? slot : luaH_getstr(t, key)
}

const luaH_get = function (L, t, key) {
  switch (key.type) {
    case LUA_TNIL:
      return lobject.luaO_nilobject
    case LUA_TNUMFLT:
      return luaH_getint(t, key.value)
    default:
      return luaH_getstr(t, key.value)
  }
}

const setnodevector = function (t, size) {
  t.index = null
  if (size === 0) {
    t.nodes = NONE
    t.lastfree = 0
    return
  }
  const n = 1 << ceillog2(size)
  take(n * 8)
  t.nodes = new Array(n).fill(null)
  t.lastfree = n
  if (n > SCANNED) t.index = new Map()
}

const resize = function (L, t, nasize, nhsize) {
  const oldnodes = t.nodes
  const array = t.array
  if (nasize > array.length) take((nasize - array.length) * SLOT)
  while (array.length < nasize) array.push(new lobject.TValue(LUA_TNIL, null))
  setnodevector(t, nhsize)
  if (nasize < array.length) {
    const rest = array.splice(nasize)
    for (let i = 0; i < rest.length; i++)
      if (rest[i].type !== LUA_TNIL) slotfor(L, t, nasize + i + 1, LUA_TNUMFLT).setfrom(rest[i])
  }
  for (let i = oldnodes.length - 1; i >= 0; i--) {
    const old = oldnodes[i]
    if (old !== null && old.value.type !== LUA_TNIL) slotfor(L, t, old.key, old.type).setfrom(old.value)
  }
}

const countint = function (key, type, nums) {
  if (type !== LUA_TNUMFLT || (key | 0) !== key || key <= 0 || key > MAXASIZE) return 0
  nums[ceillog2(key)]++
  return 1
}

const rehash = function (L, t, key, type) {
  const nums = new Array(MAXBITS + 1).fill(0)
  let integers = 0
  for (let i = 0; i < t.array.length; i++)
    if (t.array[i].type !== LUA_TNIL) integers += countint(i + 1, LUA_TNUMFLT, nums)
  let total = integers
  for (const node of t.nodes) {
    if (node !== null && node.value.type !== LUA_TNIL) {
      integers += countint(node.key, node.type, nums)
      total++
    }
  }
  integers += countint(key, type, nums)
  total++
  /* the largest n such that more than half of 1..n is in use */
  let size = 0,
    inarray = 0,
    seen = 0
  for (let i = 0, twotoi = 1; twotoi / 2 < integers; i++, twotoi *= 2) {
    if (nums[i] > 0) {
      seen += nums[i]
      if (seen > twotoi / 2) {
        size = twotoi
        inarray = seen
      }
    }
    if (seen === integers) break
  }
  resize(L, t, size, total - inarray)
}

const getfreepos = function (t) {
  while (t.lastfree > 0) {
    t.lastfree--
    if (t.nodes[t.lastfree] === null) return t.lastfree
  }
  return -1
}

const place = function (t, key, type, at) {
  take(NODE)
  const node = new Node(key, type, at)
  t.nodes[at] = node
  if (t.index !== null) t.index.set(key, node)
  return node
}

const newkey = function (L, t, key, type) {
  const size = t.nodes.length
  if (size === 0) {
    rehash(L, t, key, type)
    return slotfor(L, t, key, type)
  }
  const main = mainposition(key, type, size)
  const node = t.nodes[main]
  if (node === null) return place(t, key, type, main).value
  if (node.value.type === LUA_TNIL) {
    /* a dead key: its place in the chain stays */
    if (t.index !== null) {
      t.index.delete(node.key)
      t.index.set(key, node)
    }
    node.key = key
    node.type = type
    return node.value
  }
  const free = getfreepos(t)
  if (free < 0) {
    rehash(L, t, key, type)
    return slotfor(L, t, key, type)
  }
  if (mainposition(node.key, node.type, size) !== main) {
    /* the colliding node is out of its main position: it moves, with its links */
    t.nodes[free] = node
    node.at = free
    return place(t, key, type, main).value
  }
  const added = place(t, key, type, free)
  added.next = node.next
  node.next = added
  return added.value
}

const slotfor = function (L, t, key, type) {
  if (type === LUA_TNUMFLT) {
    const slot = t.array[key - 1]
    if (slot !== undefined) return slot
  }
  const node = findnode(t, key)
  return node !== undefined ? node.value : newkey(L, t, key, type)
}

const luaH_setfrom = function (L, t, key, value) {
  t.flags = 0
  if (key.type === LUA_TNIL) ldebug.luaG_runerror(L, 'table index is nil')
  if (key.type === LUA_TNUMFLT && key.value !== key.value) ldebug.luaG_runerror(L, 'table index is NaN')
  const slot = slotfor(L, t, key.value, key.type)
  slot.type = value.type
  slot.value = value.value
}

const luaH_setint = function (t, key, value) {
  slotfor(null, t, key, LUA_TNUMFLT).setfrom(value)
}

const luaH_resizearray = function (t, size) {
  if (size > t.array.length) resize(null, t, size, t.nodes.length)
}

const isnil = (t, j) => luaH_getint(t, j).type === LUA_TNIL

const unbound_search = function (t, from) {
  let i = from
  let j = from + 1
  while (!isnil(t, j)) {
    i = j
    j *= 2
    if (j > 0x7fffffff) {
      for (i = 1; !isnil(t, i);) i++
      return i - 1
    }
  }
  while (j - i > 1) {
    const m = Math.floor((i + j) / 2)
    if (isnil(t, m)) j = m
    else i = m
  }
  return i
}

const luaH_getn = function (t) {
  const array = t.array
  let j = array.length
  if (j > 0 && array[j - 1].type === LUA_TNIL) {
    let i = 0
    while (j - i > 1) {
      const m = (i + j) >> 1
      if (array[m - 1].type === LUA_TNIL) j = m
      else i = m
    }
    return i
  }
  return t.nodes.length === 0 ? j : unbound_search(t, j)
}

/* where the walk goes on after a key: positions count through the array part and then the nodes */
const findindex = function (L, t, key) {
  if (key.type === LUA_TNIL) return 0
  if (key.type === LUA_TNUMFLT && t.array[key.value - 1] !== undefined) return key.value
  const node = findnode(t, key.value)
  if (node === undefined) ldebug.luaG_runerror(L, "invalid key to 'next'")
  return node.at + 1 + t.array.length
}

/* what was removed is walked over again each time */
const skipped = (L, count) => {
  if (count > 16) require('./lvm.js').spend(L, count >> 3)
}

const luaH_next = function (L, t, at) {
  const key = L.stack[at]
  const value = L.stack[at + 1]
  const array = t.array
  let i = findindex(L, t, key)
  const from = i
  for (; i < array.length; i++) {
    if (array[i].type !== LUA_TNIL) {
      skipped(L, i - from)
      key.setfltvalue(i + 1)
      value.setfrom(array[i])
      return true
    }
  }
  for (i -= array.length; i < t.nodes.length; i++) {
    const node = t.nodes[i]
    if (node !== null && node.value.type !== LUA_TNIL) {
      skipped(L, i + array.length - from)
      key.type = node.type
      key.value = node.key
      value.setfrom(node.value)
      return true
    }
  }
  skipped(L, i + array.length - from)
  return false
}

const luaH_new = () => {
  take(TABLE)
  return new Table()
}

/* sizes as the instruction has them: a "floating point byte" */
const fb2int = (x) => (x < 8 ? x : ((x & 7) + 8) << ((x >> 3) - 1))
const luaH_newsized = function (L, b, c) {
  const t = luaH_new()
  if (b !== 0) resize(L, t, fb2int(b), 0)
  if (c !== 0) setnodevector(t, fb2int(c))
  return t
}

module.exports.luaH_get = luaH_get
module.exports.luaH_getint = luaH_getint
module.exports.luaH_getn = luaH_getn
module.exports.luaH_getstr = luaH_getstr
module.exports.luaH_new = luaH_new
module.exports.luaH_newsized = luaH_newsized
module.exports.luaH_next = luaH_next
module.exports.luaH_resizearray = luaH_resizearray
module.exports.luaH_setfrom = luaH_setfrom
module.exports.luaH_setint = luaH_setint
module.exports.Table = Table
module.exports.meter = meter
module.exports.take = take
module.exports.taketext = taketext
module.exports.invalidateTMcache = (t) => {
  t.flags = 0
}
