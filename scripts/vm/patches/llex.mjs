// The lexer: the tokens of Lua 5.1, and its messages.

export const llex = [
  // Not a name a script can write: in 5.1 globals are no upvalue.
  { from: 'to_luastring("_ENV", true)', to: '"(env)"' },
  { fn: 'save', to: '\nconst save = function(ls, c) {\n    ls.buff.text += String.fromCharCode(c);\n};\n' },
  {
    fn: 'luaX_token2str',
    to: `
/* the callers quote it, as in 5.1 */
const luaX_token2str = function(ls, token) {
    if (token >= FIRST_RESERVED) return luaX_tokens[token - FIRST_RESERVED];
    return token < 32 || token === 127 ? 'char(' + token + ')' : String.fromCharCode(token);
};
`,
  },
  {
    fn: 'luaX_newstring',
    to: '\nconst luaX_newstring = function(ls, str) {\n    return str;\n};\n',
  },
  {
    fn: 'read_numeral',
    to: `
const read_numeral = function(ls, seminfo) {
    do {
        save_and_next(ls);
    } while (lisdigit(ls.current) || ls.current === 46 /* '.' */);
    if (check_next2(ls, "Ee")) check_next2(ls, "+-");
    while (lislalnum(ls.current)) save_and_next(ls);
    const n = lobject.str2number(luaZ_buffer(ls.buff));
    if (n === false) lexerror(ls, "malformed number", TK_FLT);
    seminfo.r = n;
    return TK_FLT;
};
`,
  },
  {
    fn: 'txtToken',
    to: `
const txtToken = function(ls, token) {
    switch (token) {
        case TK_NAME: case TK_STRING: case TK_FLT: {
            const text = luaZ_buffer(ls.buff);
            const zero = text.indexOf('\\0');
            return zero < 0 ? text : text.slice(0, zero);
        }
        default:
            return luaX_token2str(ls, token);
    }
};
`,
  },
  { from: 'to_luastring("%s near %s")', to: '"%s near \'%s\'"' },
  { from: 'const lexerror = function', to: 'const lexerror = module.exports.luaX_lexerror = function' },
  { from: '`unfinished long ${what} (starting at line ${line})`', to: '`unfinished long ${what}`' },
  {
    from: 'seminfo.ts = luaX_newstring(ls, ls.buff.buffer.subarray(2 + sep, ls.buff.n - (2 + sep)));',
    to: 'seminfo.ts = luaX_newstring(ls, ls.buff.text.slice(2 + sep, ls.buff.text.length - (2 + sep)));',
  },
  {
    from: 'seminfo.ts = luaX_newstring(ls, ls.buff.buffer.subarray(1, ls.buff.n-1));',
    to: 'seminfo.ts = luaX_newstring(ls, ls.buff.text.slice(1, -1));',
  },
  { from: "save_and_next(ls);  /* keep '\\\\' for error messages */", to: "next(ls);  /* do not save the '\\\\' */" },
  {
    from: `                    case 120 /* ('x').charCodeAt(0) */: c = readhexaesc(ls); will = 'read_save'; break;\n`,
    to: '',
  },
  { from: `                    case 117 /* ('u').charCodeAt(0) */: utf8esc(ls); will = 'no_save'; break;\n`, to: '' },
  {
    from: `                    case 122 /* ('z').charCodeAt(0) */: {  /* zap following span of spaces */
                        luaZ_buffremove(ls.buff, 1);  /* remove '\\\\' */
                        next(ls);  /* skip the 'z' */
                        while (lisspace(ls.current)) {
                            if (currIsNewline(ls)) inclinenumber(ls);
                            else next(ls);
                        }
                        will = 'no_save'; break;
                    }
`,
    to: '',
  },
  {
    from: `                        esccheck(ls, lisdigit(ls.current), to_luastring("invalid escape sequence", true));
                        c = readdecesc(ls);  /* digital escape '\\ddd' */
                        will = 'only_save'; break;`,
    to: `                        if (!lisdigit(ls.current)) {
                            save_and_next(ls);  /* handles \\\\, \\", \\', and \\? */
                            will = 'no_save'; break;
                        }
                        c = 0;
                        for (let n = 0; n < 3 && lisdigit(ls.current); n++) {
                            c = 10 * c + ls.current - 48;
                            next(ls);
                        }
                        if (c > 255) lexerror(ls, "escape sequence too large", TK_STRING);
                        will = 'only_save'; break;`,
  },
  {
    from: `                    luaZ_buffremove(ls.buff, 1);  /* remove '\\\\' */
                    save(ls, c);`,
    to: '                    save(ls, c);',
  },
  // `goto` is an ordinary name; none of these operators exists.
  {
    from: '"end", "false", "for", "function", "goto", "if",',
    to: '"end", "false", "for", "function", "\\0goto", "if",',
  },
  { from: '"<number>", "<integer>",', to: '"<number>", "<number>",' },
  { from: `                else if (check_next1(ls, 60 /* ('<').charCodeAt(0) */)) return TK_SHL;\n`, to: '' },
  { from: `                else if (check_next1(ls, 62 /* ('>').charCodeAt(0) */)) return TK_SHR;\n`, to: '' },
  {
    from: `                if (check_next1(ls, 47 /* ('/').charCodeAt(0) */)) return TK_IDIV;\n                else return 47`,
    to: '                return 47',
  },
  {
    from: `                if (check_next1(ls, 58 /* (':').charCodeAt(0) */)) return TK_DBCOLON;\n                else return 58`,
    to: '                return 58',
  },
]
