// The parser: the grammar of Lua 5.1.

export const lparser = [
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
