// Short and long strings are one kind.

export const lstring = [
  { fn: 'luaS_eqlngstr', to: '\nconst luaS_eqlngstr = (a, b) => a === b;\n' },
  { fn: 'luaS_hash', to: '\nconst luaS_hash = (s) => s;\n' },
  { fn: 'luaS_hashlongstr', to: '\nconst luaS_hashlongstr = (s) => s;\n' },
  { fn: 'luaS_bless', to: '\nconst luaS_bless = (L, s) => s;\n' },
  { fn: 'luaS_new', to: '\nconst luaS_new = function(L, s) { return s; };\n' },
  { fn: 'luaS_newliteral', to: '\nconst luaS_newliteral = (L, s) => s;\n' },
]
