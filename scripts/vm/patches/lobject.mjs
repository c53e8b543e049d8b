// Values, and how texts become numbers.

export const lobject = [
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
