// Calls, on a stack whose slots are used again, and errors.

export const ldo = [
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
