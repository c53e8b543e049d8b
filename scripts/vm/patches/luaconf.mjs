// Numbers: every one is a double, and is written as C writes it.

export const luaconf = [
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
