// Strings: a Lua string is a plain JavaScript string with one char per byte.

export const defs = [
  // Identity: the callers' conversions to and from Uint8Array then cost nothing.
  { fn: 'luastring_eq', to: '\nconst luastring_eq = (a, b) => a === b;\n' },
  { fn: 'to_jsstring', to: '\nconst to_jsstring = (s) => s;\n' },
  { fn: 'to_luastring', to: '\nconst to_luastring = (s) => s;\n' },
  { fn: 'from_userstring', to: '\nconst from_userstring = (s) => s;\n' },
  { fn: 'is_luastring', to: "\nconst is_luastring = (s) => typeof s === 'string';\n" },
  { from: 'luastring_from = Uint8Array.from.bind(Uint8Array);', to: 'luastring_from = (s) => s;' },
  {
    from: 'return s.indexOf(v, i);',
    to: 'return s.indexOf(String.fromCharCode(v), i);',
  },
  // Lua 5.1 has no integers: one number type, under both names.
  {
    from: 'constant_types.LUA_TNUMINT = constant_types.LUA_TNUMBER | (1 << 4);',
    to: 'constant_types.LUA_TNUMINT = constant_types.LUA_TNUMBER;',
  },
]
