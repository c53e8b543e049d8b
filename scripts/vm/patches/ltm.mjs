// Metamethods of Lua 5.1.

export const ltm = [
  // `new` would wrap the string in an object.
  { from: 'new luaS_new(L, ', to: 'luaS_new(L, ', times: 24 },
  {
    from: '    if (L.ci.callstatus & lstate.CIST_LUA)\n        ldo.luaD_call(L, func, hasres);\n    else\n',
    to: '',
  },
  { from: 'delete L.stack[--L.top];', to: '--L.top;' },
  { from: `let name = ltable.luaH_getstr(mt, luaS_bless(L, __name));`, to: 'let name = lobject.luaO_nilobject;' },
  {
    fn: 'luaT_callorderTM',
    to: `
/* 5.1: both operands must have the same metamethod */
const luaT_callorderTM = function(L, p1, p2, event) {
    const tm1 = luaT_gettmbyobj(L, p1, event);
    if (tm1.ttisnil()) return null;
    const tm2 = luaT_gettmbyobj(L, p2, event);
    if (tm1.type !== tm2.type || tm1.value !== tm2.value) return null;
    const res = new lobject.TValue(0, null);
    luaT_callTM(L, tm1, p1, p2, res, 1);
    return !res.l_isfalse();
};
`,
  },
]
