// Values and strings: a Lua string is a plain JavaScript string with one char per byte, and every number is a double.

const stringPatches = [
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

const luaconf = [
  { from: '(process.env.FENGARICONF ? JSON.parse(process.env.FENGARICONF) : {})', to: '{}' },
  { from: `typeof process === "undefined"`, to: 'true' },
  { from: `require('os').platform() === 'win32'`, to: 'false' },
  // The size of a source name in messages, as in 5.1.
  { from: 'conf.LUA_IDSIZE || (60-1)', to: '59' },
  {
    fn: 'lua_number2str',
    to: `
/* C rounds what lies exactly between two results to the even one, JavaScript up */
const exponential = function(n, digits) {
    const text = n.toExponential(digits);
    if (digits >= 60) return text;
    const more = n.toExponential(digits + 1);
    const at = more.indexOf('e');
    if (more[at - 1] !== '5' || Number(more) !== n) return text;
    const exact = n.toExponential(100);
    if (/[1-9]/.test(exact.slice(at, exact.indexOf('e')))) return text;
    const last = more[at - 2] === '.' ? more[at - 3] : more[at - 2];
    return Number(last) % 2 === 0 ? more.slice(0, at - (digits === 0 ? 2 : 1)) + more.slice(at) : text;
};
module.exports.exponential = exponential;

/* "%.14g" */
const lua_number2str = function(n) {
    if (Number.isInteger(n) && n < 1e14 && n > -1e14)
        return n === 0 && 1 / n < 0 ? '-0' : String(n);
    if (n !== n) return '-nan';
    if (n === Infinity) return 'inf';
    if (n === -Infinity) return '-inf';
    const exp = exponential(n, 13);
    const at = exp.indexOf('e');
    const e = Number(exp.slice(at + 1));
    const mantissa = exp.slice(0, at).replace(/\\.?0+$/, '');
    if (e < -4 || e >= 14) {
        const size = Math.abs(e);
        return mantissa + (e < 0 ? 'e-' : 'e+') + (size < 10 ? '0' : '') + size;
    }
    const sign = n < 0 ? '-' : '';
    const digits = mantissa.replace(/[-.]/g, '');
    if (e < 0) return sign + '0.' + '0'.repeat(-e - 1) + digits;
    if (digits.length <= e + 1) return sign + digits + '0'.repeat(e + 1 - digits.length);
    return sign + digits.slice(0, e + 1) + '.' + digits.slice(e + 1);
};
`,
  },
]

const lstring = [
  { fn: 'luaS_eqlngstr', to: '\nconst luaS_eqlngstr = (a, b) => a === b;\n' },
  { fn: 'luaS_hash', to: '\nconst luaS_hash = (s) => s;\n' },
  { fn: 'luaS_hashlongstr', to: '\nconst luaS_hashlongstr = (s) => s;\n' },
  { fn: 'luaS_bless', to: '\nconst luaS_bless = (L, s) => s;\n' },
  { fn: 'luaS_new', to: '\nconst luaS_new = function(L, s) { return s; };\n' },
  { fn: 'luaS_newliteral', to: '\nconst luaS_newliteral = (L, s) => s;\n' },
]

const lobject = [
  { from: 'return this.tsvalue().getstr();', to: 'return this.value;' },
  { from: 'return this.tsvalue().tsslen();', to: 'return this.value.length;' },
  {
    from: 'return this.ttisnil() || (this.ttisboolean() && this.value === false);',
    to: 'return this.value === false || this.type === LUA_TNIL;',
  },
  {
    fn: 'pushobj2s',
    to: `
const pushobj2s = function(L, tv) {
    const o = L.stack[L.top];
    if (o === undefined) L.stack[L.top] = new TValue(tv.type, tv.value);
    else { o.type = tv.type; o.value = tv.value; }
    L.top++;
};
`,
  },
  {
    fn: 'luaO_chunkid',
    to: `
const luaO_chunkid = function(source, bufflen) {
    if (source[0] === '=') return source.slice(1, bufflen + 1);
    if (source[0] === '@') {
        source = source.slice(1);
        bufflen -= 7;  /* as 5.1: sizeof(" '...' ") */
        return source.length > bufflen ? '...' + source.slice(source.length - bufflen) : source;
    }
    let len = source.search(/[\\n\\r]/);
    if (len < 0) len = source.length;
    bufflen -= 16;  /* as 5.1: sizeof(" [string \\"...\\"] ") */
    if (len > bufflen) len = bufflen;
    return '[string "' + (len < source.length ? source.slice(0, len) + '...' : source) + '"]';
};
`,
  },
  {
    fn: 'luaO_str2num',
    to: `
const DECIMAL = /^[ \\t\\n\\v\\f\\r]*([+-]?)(?:(\\d+\\.?\\d*(?:[eE][+-]?\\d+)?|\\.\\d+(?:[eE][+-]?\\d+)?)|0[xX]([0-9a-fA-F]*\\.?[0-9a-fA-F]*)(?:[pP]([+-]?\\d+))?|(inf(?:inity)?|nan(?:\\([0-9A-Za-z_]*\\))?))[ \\t\\n\\v\\f\\r]*$/i;

/* strtod, as luaO_str2d calls it: hexadecimal floats, inf and nan are numbers too */
const luaO_str2num = function(s, o) {
    const n = str2number(s);
    if (n === false) return 0;
    o.setfltvalue(n);
    return s.length + 1;
};

const hexnumber = function(digits, exponent) {
    const [whole, fraction = ''] = digits.split('.');
    let r = 0;
    for (const digit of whole + fraction) r = r * 16 + parseInt(digit, 16);
    return ldexp(r, -4 * fraction.length + Number(exponent || 0));
};

const str2number = function(s) {
    const zero = s.indexOf('\\0');
    if (zero >= 0) s = s.slice(0, zero);
    const m = DECIMAL.exec(s);
    if (m === null) return false;
    let n;
    if (m[2] !== undefined) n = Number(m[2]);
    else if (m[3] !== undefined) {
        if (!/[0-9a-fA-F]/.test(m[3])) return false;
        n = hexnumber(m[3], m[4]);
    } else n = m[5][0] === 'i' || m[5][0] === 'I' ? Infinity : NaN;
    return m[1] === '-' ? -n : n;
};
module.exports.str2number = str2number;
`,
  },
  {
    fn: 'luaO_tostring',
    to: '\nconst luaO_tostring = function(L, obj) {\n    obj.setsvalue(lua_number2str(obj.value));\n};\n',
  },
  {
    fn: 'luaO_pushvfstring',
    to: `
const luaO_pushvfstring = function(L, fmt, argp) {
    let a = 0;
    const s = fmt.replace(/%([%sdcf])/g, (m, c) =>
        c === '%' ? '%' : c === 'c' ? String.fromCharCode(argp[a++]) : String(argp[a++]));
    ldo.luaD_inctop(L);
    L.stack[L.top - 1].setsvalue(s);
    return s;
};
`,
  },
  {
    fn: 'luaO_arith',
    to: `
const luaO_arith = function(L, op, p1, p2, res) {
    res.setfltvalue(numarith(L, op, p1.value, p2.value));
};
`,
  },
  { from: 'case LUA_OPPOW:  return Math.pow(v1, v2);', to: 'case LUA_OPPOW:  return lvm.luai_numpow(v1, v2);' },
]

const llimits = [
  {
    fn: 'luai_nummod',
    to: '\nconst luai_nummod = function(L, a, b) {\n    return a - Math.floor(a / b) * b;\n};\n',
  },
]

const lstate = [
  {
    fn: 'luaE_extendCI',
    to: `
const luaE_extendCI = function(L) {
    let ci = L.ci.next;
    if (ci === null) {
        /* 5.1 keeps calls in an array that doubles and refuses to grow beyond LUAI_MAXCALLS */
        ci = new CallInfo();
        ci.depth = L.ci.depth + 1;
        if (ci.depth >= MAXCALLS) callsoverflow(L, ci);
        L.ci.next = ci;
        ci.previous = L.ci;
    } else if (ci.depth >= MAXCALLS) callsoverflow(L, ci);
    L.ci = ci;
    return ci;
};

const MAXCALLS = 16384;
const callsoverflow = function(L, ci) {
    if (L.overflow) return;
    L.overflow = true;
    try {
        require('./ldebug.js').luaG_runerror(L, 'stack overflow');
    } finally {
        L.overflow = false;
    }
};
`,
  },
  {
    from: '        this.nresults = NaN;',
    to: '        this.nresults = 0;\n        this.depth = 0;\n        this.tailcalls = 0;\n        this.extra = 0;',
  },
  {
    from: '        this.funcOff = NaN;\n        this.top = NaN;',
    to: '        this.funcOff = 0;\n        this.top = 0;',
  },
  { from: '        this.l_base = NaN;', to: '        this.l_base = 0;' },
  { from: '        this.l_savedpc = NaN;', to: '        this.l_savedpc = 0;' },
  { from: '        this.callstatus = NaN;', to: '        this.callstatus = 0;' },
  {
    from: '        this.top = NaN; /* first free slot',
    to: '        this.overflow = false;\n        this.top = 0; /* first free slot',
  },
  { from: '        this.stack_last = NaN;', to: '        this.stack_last = 0;' },
]

const lfunc = [
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

const ltm = [
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

const lzio = [
  {
    from: '        this.buffer = null;\n        this.n = 0;\n    }\n}\n\nconst luaZ_buffer',
    to: "        this.text = '';\n    }\n}\n\nconst luaZ_buffer",
  },
  { fn: 'luaZ_buffer', to: '\nconst luaZ_buffer = (buff) => buff.text;\n' },
  {
    fn: 'luaZ_buffremove',
    to: '\nconst luaZ_buffremove = function(buff, i) {\n    buff.text = buff.text.slice(0, -i);\n};\n',
  },
  { fn: 'luaZ_resetbuffer', to: "\nconst luaZ_resetbuffer = function(buff) {\n    buff.text = '';\n};\n" },
  { fn: 'luaZ_resizebuffer', to: "\nconst luaZ_resizebuffer = function(L, buff) {\n    buff.text = '';\n};\n" },
  {
    from: 'return ((this.n--) > 0) ? this.buffer[this.off++] : luaZ_fill(this);',
    to: 'return this.off < this.data.length ? this.data.charCodeAt(this.off++) : EOZ;',
  },
]

export const corePatches = {
  'defs.js': stringPatches,
  'luaconf.js': luaconf,
  'lstring.js': lstring,
  'lobject.js': lobject,
  'llimits.js': llimits,
  'lstate.js': lstate,
  'lfunc.js': lfunc,
  'ltm.js': ltm,
  'lzio.js': lzio,
}
