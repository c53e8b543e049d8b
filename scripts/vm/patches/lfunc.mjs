// Closures and the variables that they keep.

export const lfunc = [
  { from: 'return f.locvars[i].varname.getstr();', to: 'return f.locvars[i].varname;' },
  {
    fn: 'luaF_close',
    to: `
const luaF_close = function(L, level) {
    /* Create new TValues on stack;
     * any closures will keep referencing old TValues */
    const limit = L.top > L.ci.top ? L.top : L.ci.top;
    for (let i = level; i < limit; i++) {
        const old = L.stack[i];
        if (old === undefined) break;
        L.stack[i] = new lobject.TValue(old.type, old.value);
    }
};
`,
  },
]
