// The state of a thread: its stack is used again.

export const lstate = [
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
