// The machine itself: calls, tables, metamethods and errors as in Lua 5.1, on a stack whose slots are used again.
import { readFileSync } from 'node:fs'

const source = (name) => readFileSync(new URL(name, import.meta.url), 'utf8')

const lvm = [
  { fn: 'luaV_execute', to: source('execute.js') },
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

const ldo = [
  {
    fn: 'adjust_top',
    to: `
const adjust_top = function(L, newtop) {
    const stack = L.stack;
    for (let i = L.top; i < newtop; i++) {
        const o = stack[i];
        if (o === undefined) stack[i] = new lobject.TValue(LUA_TNIL, null);
        else { o.type = LUA_TNIL; o.value = null; }
    }
    L.top = newtop;
};
`,
  },
  {
    from: '        L.stack[L.top++] = new lobject.TValue(LUA_TNIL, null);\n\n    switch (errcode) {',
    to: '        adjust_top(L, L.top + 1);\n\n    switch (errcode) {',
  },
  { from: '    while (L.top > oldtop + 1)\n        delete L.stack[--L.top];', to: '    L.top = oldtop + 1;' },
  {
    from: '    luaD_checkstack(L, 1);\n    L.stack[L.top++] = new lobject.TValue(LUA_TNIL, null);',
    to: '    luaD_checkstack(L, 1);\n    adjust_top(L, L.top + 1);',
  },
  // Slots beyond the top are used again, so the stack only grows.
  { fn: 'luaD_shrinkstack', to: '\nconst luaD_shrinkstack = function() {};\n' },
  {
    from: `            ci.top = L.top + LUA_MINSTACK;
            lua_assert(ci.top <= L.stack_last);
            ci.callstatus = 0;
            if (L.hookmask & LUA_MASKCALL)
                luaD_hook(L, LUA_HOOKCALL, -1);
            let n = f(L); /* do the actual call */
            if (typeof n !== "number" || n < 0 || (n|0) !== n)
                throw Error("invalid return value from JS function (expected integer)");
            lapi.api_checknelems(L, n);
`,
    to: `            ci.top = L.top + LUA_MINSTACK;
            ci.callstatus = 0;
            ci.tailcalls = 0;
            ci.c_k = null;
            const n = f(L); /* do the actual call */
`,
  },
  {
    from: `                for (; n < p.numparams; n++)
                    L.stack[L.top++] = new lobject.TValue(LUA_TNIL, null); // complete missing arguments
                base = off + 1;`,
    to: `                if (n < p.numparams) adjust_top(L, off + 1 + p.numparams); // complete missing arguments
                else L.top = off + 1 + p.numparams;
                base = off + 1;`,
  },
  {
    from: `            ci.callstatus = lstate.CIST_LUA;
            if (L.hookmask & LUA_MASKCALL)
                callhook(L, ci);
            return false;`,
    to: `            ci.callstatus = lstate.CIST_LUA;
            ci.tailcalls = 0;
            return false;`,
  },
  {
    fn: 'luaD_poscall',
    to: `
const luaD_poscall = function(L, ci, firstResult, nres) {
    L.ci = ci.previous;
    return moveresults(L, firstResult, ci.funcOff, nres, ci.nresults);
};
`,
  },
  { from: '            for (let i=L.top; i>=(res + nres); i--)\n                delete L.stack[i];\n', to: '' },
  { from: '    for (let i=L.top; i>=newtop; i--)\n        delete L.stack[i];\n', to: '' },
  {
    from: `                    if (res+i >= L.top)
                        L.stack[res + i] = new lobject.TValue(LUA_TNIL, null);
                    else
                        L.stack[res + i].setnilvalue();`,
    to: `                    if (L.stack[res + i] === undefined)
                        L.stack[res + i] = new lobject.TValue(LUA_TNIL, null);
                    else
                        L.stack[res + i].setnilvalue();`,
  },
  {
    from: `    for (; i < nfixargs; i++)
        L.stack[L.top++] = new lobject.TValue(LUA_TNIL, null);

    return base;`,
    to: `    adjust_top(L, base + nfixargs);
    if (p.needsarg) {  /* the compatibility variable 'arg' */
        const t = ltable.luaH_new(L);
        let n = 0;
        for (let j = fixed + nfixargs; j < base; j++) ltable.luaH_setint(t, ++n, L.stack[j]);
        ltable.luaH_setfrom(L, t, new lobject.TValue(LUA_TLNGSTR, 'n'), new lobject.TValue(LUA_TNUMFLT, n));
        adjust_top(L, L.top + 1);
        L.stack[L.top - 1].sethvalue(t);
    }
    return base;`,
  },
  {
    from: '        LUA_TNIL\n    },\n    thread_status',
    to: '        LUA_TLNGSTR,\n        LUA_TNUMFLT,\n        LUA_TNIL\n    },\n    thread_status',
  },
  {
    from: "const ltm      = require('./ltm.js');",
    to: "const ltm      = require('./ltm.js');\nconst ltable   = require('./ltable.js');",
  },
  { from: 'to_luastring("JS stack overflow", true)', to: '"C stack overflow"' },
  { from: '"JS stack overflow"', to: '"C stack overflow"' },
  {
    from: 'to_luastring("attempt to yield across a JS-call boundary", true)',
    to: '"attempt to yield across metamethod/C-call boundary"',
  },
  {
    from: 'to_luastring("attempt to yield from outside a coroutine", true)',
    to: '"attempt to yield across metamethod/C-call boundary"',
  },
  {
    from: '        for (let i=1; i<narg; i++)\n            delete L.stack[--L.top];',
    to: '        L.top -= narg - 1;',
  },
  // Redis does not load precompiled code.
  { from: 'if (c === LUA_SIGNATURE[0]) {', to: 'if (false) {' },
  // A JavaScript error inside the VM is a bug or a full JavaScript stack: it must not pass for a Lua error silently.
  {
    from: '                lj.status = -1;\n            }\n        }\n    }\n\n    L.errorJmp',
    to: '                L.errorJmp = lj.previous;\n                throw e;\n            }\n        }\n    }\n\n    L.errorJmp',
  },
]

const ldebug = [
  { from: 'return s.getstr();', to: 'return s;' },
  { from: 'ar.source = p.source ? p.source.getstr() : to_luastring("=?", true);', to: 'ar.source = p.source;' },
  { from: 'r.name = L.l_G.tmname[tm].getstr();', to: 'r.name = L.l_G.tmname[tm];' },
  { from: 'lobject.luaO_chunkid(src.getstr(), LUA_IDSIZE)', to: 'lobject.luaO_chunkid(src, LUA_IDSIZE)' },
  { from: 'delete L.stack[--L.top];  /* pop value */', to: '--L.top;' },
  {
    fn: 'kname',
    to: `
const kname = function(p, pc, c) {
    const k = lopcodes.ISK(c) ? p.k[lopcodes.INDEXK(c)] : null;
    return { name: k !== null && k.ttisstring() ? k.value : '?', funcname: null };
};
`,
  },
  // 5.1's symbolic execution follows every jump forward instead of giving up on conditional code.
  {
    fn: 'findsetreg',
    to: `
const findsetreg = function(p, lastpc, reg) {
    let setreg = -1;  /* keep last instruction that changed 'reg' */
    const OCi = lopcodes.OpCodesI;
    for (let pc = 0; pc < lastpc; pc++) {
        const i = p.code[pc];
        const a = i.A;
        switch (i.opcode) {
            case OCi.OP_LOADNIL:
                if (a <= reg && reg <= a + i.B) setreg = pc;
                break;
            case OCi.OP_TFORCALL:
                if (reg >= a + 3) setreg = pc;
                break;
            case OCi.OP_CALL:
            case OCi.OP_TAILCALL:
                if (reg >= a) setreg = pc;
                break;
            case OCi.OP_TEST:  /* 5.1 counts it as setting its register */
                if (reg === a) setreg = pc;
                break;
            case OCi.OP_SELF:
                if (reg === a || reg === a + 1) setreg = pc;
                break;
            case OCi.OP_FORPREP:
            case OCi.OP_FORLOOP:
                if (reg >= a && reg <= a + 3) setreg = pc;
                if (i.opcode === OCi.OP_FORPREP) pc = forward(pc, i, lastpc);
                break;
            case OCi.OP_JMP:
                pc = forward(pc, i, lastpc);
                break;
            default:
                if (lopcodes.testAMode(i.opcode) && reg === a) setreg = pc;
        }
    }
    return setreg;
};

/* jump is forward and does not skip 'lastpc'? */
const forward = function(pc, i, lastpc) {
    const dest = pc + 1 + i.sBx;
    return pc < dest && dest <= lastpc ? dest - 1 : pc;
};
`,
  },
  {
    from: `            case OCi.OP_LOADK:
            case OCi.OP_LOADKX: {
                let b = i.opcode === OCi.OP_LOADK ? i.Bx : p.code[pc + 1].Ax;
                if (p.k[b].ttisstring()) {
                    r.name = p.k[b].svalue();
                    r.funcname = to_luastring("constant", true);
                    return r;
                }
                break;
            }
`,
    to: '',
  },
  {
    from: 'let vn = i.opcode === OCi.OP_GETTABLE ? lfunc.luaF_getlocalname(p, t + 1, pc) : upvalname(p, t);',
    to: 'let vn = i.opcode === OCi.OP_GETTABLE ? null : upvalname(p, t);',
  },
  {
    fn: 'funcnamefromcode',
    to: `
const funcnamefromcode = function(L, ci) {
    const p = ci.func.value.p;  /* calling function */
    const pc = currentpc(ci);  /* calling instruction index */
    const i = p.code[pc];  /* calling instruction */
    switch (i.opcode) {
        case lopcodes.OpCodesI.OP_CALL:
        case lopcodes.OpCodesI.OP_TAILCALL:
        case lopcodes.OpCodesI.OP_TFORCALL:
            return getobjname(p, pc, i.A);  /* get function name */
        default:
            return null;  /* no useful name can be found */
    }
};
`,
  },
  {
    fn: 'varinfo',
    to: `
const varinfo = function(L, o) {
    const ci = L.ci;
    if (!(ci.callstatus & lstate.CIST_LUA)) return null;
    const upvalue = getupvalname(L, ci, o);
    if (upvalue !== null) return upvalue;
    const stkid = isinstack(L, ci, o);
    return stkid === false ? null : getobjname(ci.func.value.p, currentpc(ci), stkid - ci.l_base);
};
`,
  },
  {
    fn: 'luaG_typeerror',
    to: `
const luaG_typeerror = function(L, o, op) {
    const t = ltm.ttypename(o.ttnov());
    const kind = varinfo(L, o);
    if (kind !== null) luaG_runerror(L, "attempt to %s %s '%s' (a %s value)", op, kind.funcname, cstring(kind.name), t);
    else luaG_runerror(L, "attempt to %s a %s value", op, t);
};

const cstring = (s) => s.includes('\\0') ? s.slice(0, s.indexOf('\\0')) : s;
`,
  },
  { from: 'if (luastring_eq(t1, t2))', to: 'if (t1[2] === t2[2])  /* so does 5.1 */' },
  { from: 'let t1 = ltm.luaT_objtypename(L, p1);', to: 'let t1 = ltm.ttypename(p1.ttnov());' },
  { from: 'let t2 = ltm.luaT_objtypename(L, p2);', to: 'let t2 = ltm.ttypename(p2.ttnov());' },
  {
    from: 'module.exports.luaG_addinfo     = luaG_addinfo;',
    to: 'module.exports.luaG_addinfo     = luaG_addinfo;\nmodule.exports.getfuncname = getfuncname;\nmodule.exports.currentline = currentline;',
  },
]

const lapi = [
  { from: 'delete L.stack[--L.top];', to: '--L.top;', times: 16 },
  { from: 'ts.getstr()', to: 'ts', times: 2 },
]

// Replaced whole: 5.1's tables differ in their very layout.
const ltable = [{ whole: true, to: source('table.js') }]

export const machinePatches = {
  'lvm.js': lvm,
  'ldo.js': ldo,
  'ldebug.js': ldebug,
  'lapi.js': lapi,
  'ltable.js': ltable,
}
