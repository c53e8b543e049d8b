// Limits of Lua 5.1.

export const llimits = [
  {
    fn: 'luai_nummod',
    to: '\nconst luai_nummod = function(L, a, b) {\n    return a - Math.floor(a / b) * b;\n};\n',
  },
]
