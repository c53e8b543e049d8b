// The code generator: what it folds into constants.

export const lcode = [
  { from: 'const MAXREGS = 255;', to: 'const MAXREGS = 250;' },
  { from: 'if (newstack >= MAXREGS)', to: 'if (newstack >= MAXREGS)' },
  { from: '"function or expression needs too many registers"', to: '"function or expression too complex"' },
  // A sum over several lines is blamed on the line of its last token, as in 5.1.
  {
    from: `    e.k = lparser.expkind.VRELOCABLE;  /* all those operations are relocatable */
    luaK_fixline(fs, line);`,
    to: `    e.k = lparser.expkind.VRELOCABLE;  /* all those operations are relocatable */`,
  },
  {
    from: `    e1.k = lparser.expkind.VRELOCABLE;  /* all those operations are relocatable */
    luaK_fixline(fs, line);`,
    to: `    e1.k = lparser.expkind.VRELOCABLE;  /* all those operations are relocatable */`,
  },
  {
    from: `    if (res.ttisinteger()) {
        e1.k = ek.VKINT;
        e1.u.ival = res.value;
    }
    else {  /* folds neither NaN nor 0.0 (to avoid problems with -0.0) */`,
    to: '    {',
  },
  { from: 'if (isNaN(n) || n === 0)', to: 'if (isNaN(n))' },
  { from: '    ef.k = lparser.expkind.VKINT;', to: '    ef.k = lparser.expkind.VKFLT;' },
]
