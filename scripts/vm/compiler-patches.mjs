// The lexer, parser and code generator: Lua 5.1's grammar and its messages.

const llex = [
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

const lparser = [
  {
    fn: 'error_expected',
    to: `
const error_expected = function(ls, token) {
    llex.luaX_syntaxerror(ls, "'" + llex.luaX_token2str(ls, token) + "' expected");
};
`,
  },
  {
    fn: 'errorlimit',
    to: `
const errorlimit = function(fs, limit, what) {
    const line = fs.f.linedefined;
    const where = line === 0 ? 'main function' : 'function at line ' + line;
    llex.luaX_lexerror(fs.ls, where + ' has more than ' + limit + ' ' + what, 0);
};
`,
  },
  { from: 'to_luastring("%s expected (to close %s at line %d)")', to: "\"'%s' expected (to close '%s' at line %d)\"" },
  {
    from: 'checklimit(ls.fs, L.nCcalls, LUAI_MAXCCALLS, to_luastring("JS levels", true));',
    to: 'if (L.nCcalls > LUAI_MAXCCALLS) llex.luaX_lexerror(ls, "chunk has too many syntax levels", 0);',
  },
  {
    from: 'checklimit(ls.fs, nvars + ls.L.nCcalls, LUAI_MAXCCALLS, to_luastring("JS levels", true));',
    to: 'checklimit(ls.fs, nvars, LUAI_MAXCCALLS - ls.L.nCcalls, "variables in assignment");',
  },
  {
    from: 'checklimit(fs, fs.nups + 1, lfunc.MAXUPVAL, to_luastring("upvalues", true));',
    to: 'checklimit(fs, fs.nups + 1, f.upvalues.length > 0 && f.upvalues[0].name === ls_env ? 61 : 60, "upvalues");',
  },
  { from: 'const newupvalue = function', to: 'const ls_env = llex.LUA_ENV;\n\nconst newupvalue = function' },
  {
    fn: 'statlist',
    to: `
const statlist = function(ls) {
    /* chunk -> { stat [';'] }, where return and break come last */
    let islast = false;
    while (!islast && !block_follow(ls, 1)) {
        islast = statement(ls);
        testnext(ls, 59 /* (';').charCodeAt(0) */);
    }
};
`,
  },
  {
    from: `        case 59 /* (';').charCodeAt(0) */: {  /* stat -> ';' (empty statement) */
            llex.luaX_next(ls);  /* skip ';' */
            break;
        }
`,
    to: '',
  },
  {
    from: `    let line = ls.linenumber;  /* may be needed for error messages */
    enterlevel(ls);
    switch(ls.t.token) {`,
    to: `    let line = ls.linenumber;  /* may be needed for error messages */
    const islast = ls.t.token === R.TK_RETURN || ls.t.token === R.TK_BREAK;
    enterlevel(ls);
    switch(ls.t.token) {`,
  },
  {
    from: `    ls.fs.freereg = ls.fs.nactvar;  /* free registers */
    leavelevel(ls);
};`,
    to: `    ls.fs.freereg = ls.fs.nactvar;  /* free registers */
    leavelevel(ls);
    return islast;
};`,
  },
  {
    from: `        case R.TK_DBCOLON: {  /* stat -> label */
            llex.luaX_next(ls);  /* skip double colon */
            labelstat(ls, str_checkname(ls), line);
            break;
        }
`,
    to: '',
  },
  {
    from: `    luaK_ret(fs, first, nret);
    testnext(ls, 59 /* (';').charCodeAt(0) */);  /* skip optional semicolon */`,
    to: '    luaK_ret(fs, first, nret);',
  },
  { from: 'if (ls.t.token === R.TK_GOTO || ls.t.token === R.TK_BREAK) {', to: 'if (false) {' },
  {
    from: `        llex.luaX_next(ls);  /* skip break */`,
    to: `        llex.luaX_next(ls);  /* skip break */
        let bl = ls.fs.bl;
        while (bl && !bl.isloop) bl = bl.previous;
        if (!bl) llex.luaX_syntaxerror(ls, "no loop to break");`,
  },
  // 'break' creates its jump before it is known to be inside a loop: read the token first, as 5.1 does.
  {
    from: `    if (ls.t.token === 61 /* ('=').charCodeAt(0) */ || ls.t.token === 44 /* (',').charCodeAt(0) */) { /* stat . assignment ? */
        v.prev = null;
        assignment(ls, v, 1);
    }
    else {  /* stat -> func */
        check_condition(ls, v.v.k === expkind.VCALL, to_luastring("syntax error", true));
        SETARG_C(getinstruction(fs, v.v), 1);  /* call statement uses no results */
    }`,
    to: `    if (v.v.k === expkind.VCALL) {  /* stat -> func */
        SETARG_C(getinstruction(fs, v.v), 1);  /* call statement uses no results */
    } else {
        v.prev = null;
        assignment(ls, v, 1);
    }`,
  },
  {
    from: 'const funcargs = function(ls, f, line) {\n    let fs = ls.fs;',
    to: 'const funcargs = function(ls, f) {\n    let fs = ls.fs;\n    let line = ls.linenumber;',
  },
  {
    from: `        case 40 /* ('(').charCodeAt(0) */: {  /* funcargs -> '(' [ explist ] ')' */
            llex.luaX_next(ls);`,
    to: `        case 40 /* ('(').charCodeAt(0) */: {  /* funcargs -> '(' [ explist ] ')' */
            if (line !== ls.lastline)
                llex.luaX_syntaxerror(ls, "ambiguous syntax (function call x new statement)");
            llex.luaX_next(ls);`,
  },
  // LUA_COMPAT_VARARG: a vararg function that never says '...' has its arguments in 'arg'.
  {
    from: `                    f.is_vararg = true;  /* declared vararg */
                    break;`,
    to: `                    new_localvarliteral(ls, "arg");
                    f.is_vararg = true;  /* declared vararg */
                    f.needsarg = true;
                    break;`,
  },
  {
    from: `    adjustlocalvars(ls, nparams);
    f.numparams = fs.nactvar;`,
    to: `    adjustlocalvars(ls, nparams);
    f.numparams = fs.nactvar;
    if (f.is_vararg) adjustlocalvars(ls, 1);`,
  },
  {
    from: `            check_condition(ls, fs.f.is_vararg, to_luastring("cannot use '...' outside a vararg function", true));`,
    to: `            check_condition(ls, fs.f.is_vararg, to_luastring("cannot use '...' outside a vararg function", true));
            fs.f.needsarg = false;`,
  },
  { from: "case 126 /* ('~').charCodeAt(0) */: return OPR_BNOT;\n", to: '\n' },
  { from: "case 126 /* ('~').charCodeAt(0) */: return OPR_BXOR;\n", to: '\n' },
  { from: "case 38 /* ('&').charCodeAt(0) */: return OPR_BAND;\n", to: '\n' },
  { from: "case 124 /* ('|').charCodeAt(0) */: return OPR_BOR;\n", to: '\n' },
  { from: 'luaK_codek(fs, fs.freereg, luaK_intK(fs, 1));', to: 'luaK_codek(fs, fs.freereg, luaK_numberK(fs, 1));' },
  { from: '    luaK_intK,\n', to: '    luaK_numberK,\n' },
  { from: 'gt.name.getstr(), gt.line, vname.getstr());', to: 'gt.name, gt.line, vname);' },
  { from: 'gt.name.getstr(), gt.line);', to: 'gt.name, gt.line);' },
  { from: 'delete L.stack[--L.top];', to: '--L.top;' },
]

const lcode = [
  { from: 'const MAXREGS = 255;', to: 'const MAXREGS = 250;' },
  { from: 'if (newstack >= MAXREGS)', to: 'if (newstack >= MAXREGS)' },
  { from: '"function or expression needs too many registers"', to: '"function or expression too complex"' },
  // A sum over several lines is blamed on the line of its last token, as in 5.1.
  {
    from: `    e.k = lparser.expkind.VRELOCABLE;  /* all those operations are relocatable */
    luaK_fixline(fs, line);`,
    to: `    e.k = lparser.expkind.VRELOCABLE;  /* all those operations are relocatable */`,
  },
  {
    from: `    e1.k = lparser.expkind.VRELOCABLE;  /* all those operations are relocatable */
    luaK_fixline(fs, line);`,
    to: `    e1.k = lparser.expkind.VRELOCABLE;  /* all those operations are relocatable */`,
  },
  {
    from: `    if (res.ttisinteger()) {
        e1.k = ek.VKINT;
        e1.u.ival = res.value;
    }
    else {  /* folds neither NaN nor 0.0 (to avoid problems with -0.0) */`,
    to: '    {',
  },
  { from: 'if (isNaN(n) || n === 0)', to: 'if (isNaN(n))' },
  { from: '    ef.k = lparser.expkind.VKINT;', to: '    ef.k = lparser.expkind.VKFLT;' },
]

export const compilerPatches = { 'llex.js': llex, 'lparser.js': lparser, 'lcode.js': lcode }
