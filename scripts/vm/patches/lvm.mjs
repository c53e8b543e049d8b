// Instructions, comparisons and conversions.
import { readFileSync } from 'node:fs'

export const lvm = [
  { fn: 'luaV_execute', to: readFileSync(new URL('../execute.js', import.meta.url), 'utf8') },
  { from: 'delete L.stack[--L.top];', to: '--L.top;', times: 3 },
  {
    from: '    let a = i.A;\n    if (a !== 0) lfunc.luaF_close(L, ci.l_base + a - 1);\n    ci.l_savedpc += i.sBx + e;',
    to: '    if (i.A !== 0) lfunc.luaF_close(L, ci.l_base + i.A - 1);\n    if (i.sBx < 0 && --L.l_G.budget < 0) tick(L);\n    ci.l_savedpc += i.sBx + e;',
  },
  {
    from: `    else {
        let res = ltm.luaT_callorderTM(L, l, r, ltm.TMS.TM_LT);`,
    to: `    else {
        if (l.ttnov() !== r.ttnov()) ldebug.luaG_ordererror(L, l, r);
        let res = ltm.luaT_callorderTM(L, l, r, ltm.TMS.TM_LT);`,
  },
  {
    from: `    else {
        res = ltm.luaT_callorderTM(L, l, r, ltm.TMS.TM_LE);`,
    to: `    else {
        if (l.ttnov() !== r.ttnov()) ldebug.luaG_ordererror(L, l, r);
        res = ltm.luaT_callorderTM(L, l, r, ltm.TMS.TM_LE);`,
  },
  {
    from: `            tm = ltm.fasttm(L, t1.value.metatable, ltm.TMS.TM_EQ);
            if (tm === null)
                tm = ltm.fasttm(L, t2.value.metatable, ltm.TMS.TM_EQ);
            break;`,
    to: `            tm = ltm.fasttm(L, t1.value.metatable, ltm.TMS.TM_EQ);
            if (tm !== null && t1.value.metatable !== t2.value.metatable) {  /* 5.1: both must have the same */
                const tm2 = ltm.fasttm(L, t2.value.metatable, ltm.TMS.TM_EQ);
                if (tm2 === null || tm2.value !== tm.value) tm = null;
            }
            break;`,
  },
  {
    fn: 'luaV_tointeger',
    to: `
const luaV_tointeger = function(obj) {
    const n = tonumber(obj);
    return n === false ? false : Math.trunc(n);
};
`,
  },
  {
    fn: 'tonumber',
    to: `
const tonumber = function(o) {
    if (o.type === LUA_TNUMFLT) return o.value;
    return o.type === LUA_TLNGSTR ? lobject.str2number(o.value) : false;
};
`,
  },
  {
    from: 'module.exports.tonumber         = tonumber;',
    to: 'module.exports.tonumber         = tonumber;\nmodule.exports.luai_numpow = luai_numpow;',
  },
  {
    fn: 'luaV_objlen',
    to: `
/* 5.1: a table's length is always primitive */
const luaV_objlen = function(L, ra, rb) {
    if (rb.type === LUA_TTABLE) ra.setfltvalue(ltable.luaH_getn(rb.value));
    else if (rb.type === LUA_TLNGSTR) ra.setfltvalue(rb.value.length);
    else {
        const tm = ltm.luaT_gettmbyobj(L, rb, ltm.TMS.TM_LEN);
        if (tm.ttisnil()) ldebug.luaG_typeerror(L, rb, "get length of");
        ltm.luaT_callTM(L, tm, rb, lobject.luaO_nilobject, ra, 1);
    }
};
`,
  },
  {
    fn: 'luaV_concat',
    to: `
const luaV_concat = function(L, total) {
    do {
        const top = L.top;
        let n = 2; /* number of elements handled in this pass (at least 2) */
        const l = L.stack[top - 2];
        const r = L.stack[top - 1];
        if (!(l.type === LUA_TLNGSTR || l.type === LUA_TNUMFLT) || !tostring(L, top - 1)) {
            ltm.luaT_trybinTM(L, l, r, l, ltm.TMS.TM_CONCAT);
        } else {
            let text = r.value;
            for (n = 1; n < total && tostring(L, top - n - 1); n++) {
                const more = L.stack[top - n - 1].value;
                if (more.length + text.length > MAXSTRING) ldebug.luaG_runerror(L, "not enough memory");
                text = more + text;
            }
            ltable.taketext(text);
            L.stack[top - n].setsvalue(text);
        }
        total -= n - 1; /* got 'n' strings to create 1 new */
        L.top = top - (n - 1); /* popped 'n' strings and pushed one */
    } while (total > 1); /* repeat until only 1 result left */
};

/* what a JavaScript string can hold */
const MAXSTRING = 0x1fffffe8;
`,
  },
  { from: 'const MAXTAGLOOP = 2000;', to: 'const MAXTAGLOOP = 100;' },
  { from: `to_luastring("'__index' chain too long; possible loop", true)`, to: '"loop in gettable"' },
  { from: `to_luastring("'__newindex' chain too long; possible loop", true)`, to: '"loop in settable"' },
  {
    from: "            let h = t.value; /* save 't' table */",
    to: `            let h = t.value; /* save 't' table */
            if (h.readonly) ldebug.luaG_runerror(L, "Attempt to modify a readonly table");`,
  },
  {
    from: '                ltable.luaH_setfrom(L, h, key, val);\n                ltable.invalidateTMcache(h);',
    to: '                ltable.luaH_setfrom(L, h, key, val);\n                h.flags = 0;',
  },
]
