// Messages of errors, with the names that Lua 5.1 gives to what is wrong.

export const ldebug = [
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
