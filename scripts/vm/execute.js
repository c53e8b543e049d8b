/* bytes that a closure takes, roughly */
const CLOSURE = 192

const luai_numpow = function (a, b) {
  /* C's pow: 1 to any power is 1, and so is -1 to an infinite one */
  return a === 1 || (a === -1 && (b === Infinity || b === -Infinity)) ? 1 : a ** b
}

const arith = function (L, op1, op2, ra, event) {
  if (op1.type === LUA_TLNGSTR) weighone(L, op1)
  if (op2.type === LUA_TLNGSTR) weighone(L, op2)
  const a = tonumber(op1)
  const b = a === false ? false : tonumber(op2)
  if (a === false || b === false) {
    ltm.luaT_trybinTM(L, op1, op2, L.stack[ra], event)
    return
  }
  let n
  switch (event) {
    case ltm.TMS.TM_ADD:
      n = a + b
      break
    case ltm.TMS.TM_SUB:
      n = a - b
      break
    case ltm.TMS.TM_MUL:
      n = a * b
      break
    case ltm.TMS.TM_DIV:
      n = a / b
      break
    case ltm.TMS.TM_MOD:
      n = a - Math.floor(a / b) * b
      break
    case ltm.TMS.TM_POW:
      n = luai_numpow(a, b)
      break
    default:
      n = -a
  }
  L.stack[ra].setfltvalue(n)
}

const tailcall = function (L, cl) {
  /* put called frame (n) in place of caller one (o) */
  const nci = L.ci
  const oci = nci.previous
  const nfunc = nci.func
  const shift = nci.funcOff - oci.funcOff
  const lim = nci.l_base + nfunc.value.p.maxstacksize
  if (cl.p.p.length > 0) lfunc.luaF_close(L, oci.l_base)
  for (let from = nci.funcOff; from < lim; from++) L.stack[from - shift].setfrom(L.stack[from])
  oci.l_base = nci.l_base - shift
  oci.top = L.top - shift
  ldo.adjust_top(L, oci.top) /* correct top */
  oci.l_code = nci.l_code
  oci.l_savedpc = nci.l_savedpc
  oci.callstatus |= lstate.CIST_TAIL
  oci.tailcalls++
  L.ci = oci
  return oci
}

const forprep = function (L, ra) {
  const init = tonumber(L.stack[ra])
  if (init === false) ldebug.luaG_runerror(L, "'for' initial value must be a number")
  const limit = tonumber(L.stack[ra + 1])
  if (limit === false) ldebug.luaG_runerror(L, "'for' limit must be a number")
  const step = tonumber(L.stack[ra + 2])
  if (step === false) ldebug.luaG_runerror(L, "'for' step must be a number")
  L.stack[ra].setfltvalue(init - step)
  L.stack[ra + 1].setfltvalue(limit)
  L.stack[ra + 2].setfltvalue(step)
}

const vararg = function (L, ci, cl, ra, wanted) {
  const base = ci.l_base
  let n = base - ci.funcOff - cl.p.numparams - 1
  if (n < 0) n = 0
  if (wanted < 0) {
    wanted = n
    ldo.luaD_checkstack(L, n)
    ldo.adjust_top(L, ra + n)
  }
  let j = 0
  for (; j < wanted && j < n; j++) L.stack[ra + j].setfrom(L.stack[base - n + j])
  for (; j < wanted; j++) L.stack[ra + j].setnilvalue()
}

const setlist = function (L, ci, ra, i) {
  let n = i.B
  let c = i.C
  if (n === 0) n = L.top - ra - 1
  if (c === 0) c = ci.l_code[ci.l_savedpc++].Ax
  const h = L.stack[ra].value
  const first = (c - 1) * LFIELDS_PER_FLUSH
  ltable.luaH_resizearray(h, first + n)
  for (let j = n; j >= 1; j--) ltable.luaH_setint(h, first + j, L.stack[ra + j])
  ldo.adjust_top(L, ci.top) /* correct top (in case of previous open call) */
}

/* budget of backward jumps and calls, and of what other operations say that they cost; the host refills it or raises an error */
const tick = function (L) {
  const g = L.l_G
  const beyond = -g.budget
  /* where it raises an error, the next script does not pay for this one */
  g.budget = 0
  g.budget = g.onbudget ? g.onbudget(beyond) : 1e6
}

const spend = (module.exports.spend = function (L, steps) {
  if ((L.l_G.budget -= steps) < 0) tick(L)
})

/* a long string is read as a number to its end */
const weighone = function (L, a) {
  if (a.value.length > 256) spend(L, a.value.length >> 5)
}

/* long strings are compared byte by byte */
const weigh = function (L, a, b) {
  if (a.type !== LUA_TLNGSTR || b.type !== LUA_TLNGSTR || a.value.length < 1024) return
  spend(L, Math.min(a.value.length, b.value.length) >> 6)
}

const luaV_execute = function (L) {
  let ci = L.ci
  const g = L.l_G
  ci.callstatus |= lstate.CIST_FRESH
  for (;;) {
    const cl = ci.func.value
    const k = cl.p.k
    const base = ci.l_base
    const code = ci.l_code
    const stack = L.stack
    if (--g.budget < 0) tick(L)
    frame: for (;;) {
      const i = code[ci.l_savedpc++]
      const ra = base + i.A
      switch (i.opcode) {
        case 0 /* OP_MOVE */: {
          const a = stack[ra],
            b = stack[base + i.B]
          a.type = b.type
          a.value = b.value
          break
        }
        case 1 /* OP_LOADK */: {
          const a = stack[ra],
            b = k[i.Bx]
          a.type = b.type
          a.value = b.value
          break
        }
        case 2 /* OP_LOADKX */:
          stack[ra].setfrom(k[code[ci.l_savedpc++].Ax])
          break
        case 3 /* OP_LOADBOOL */:
          stack[ra].setbvalue(i.B !== 0)
          if (i.C !== 0) ci.l_savedpc++
          break
        case 4 /* OP_LOADNIL */:
          for (let j = 0; j <= i.B; j++) stack[ra + j].setnilvalue()
          break
        case 5 /* OP_GETUPVAL */: {
          const a = stack[ra],
            b = cl.upvals[i.B]
          a.type = b.type
          a.value = b.value
          break
        }
        case 6 /* OP_GETTABUP */: {
          const t = cl.upvals[i.B]
          const key = i.C & 256 ? k[i.C & 255] : stack[base + i.C]
          if (t.type === LUA_TTABLE && key.type === LUA_TLNGSTR) {
            const slot = ltable.luaH_getstr(t.value, key.value)
            if (slot.type !== LUA_TNIL) {
              const a = stack[ra]
              a.type = slot.type
              a.value = slot.value
              break
            }
          }
          luaV_gettable(L, t, key, ra)
          break
        }
        case 7 /* OP_GETTABLE */: {
          const t = stack[base + i.B]
          const key = i.C & 256 ? k[i.C & 255] : stack[base + i.C]
          if (t.type === LUA_TTABLE) {
            const slot =
              key.type === LUA_TLNGSTR
                ? ltable.luaH_getstr(t.value, key.value)
                : key.type === LUA_TNUMFLT
                  ? ltable.luaH_getint(t.value, key.value)
                  : ltable.luaH_get(L, t.value, key)
            if (slot.type !== LUA_TNIL) {
              const a = stack[ra]
              a.type = slot.type
              a.value = slot.value
              break
            }
          }
          luaV_gettable(L, t, key, ra)
          break
        }
        case 8 /* OP_SETTABUP */:
          settable(
            L,
            cl.upvals[i.A],
            i.B & 256 ? k[i.B & 255] : stack[base + i.B],
            i.C & 256 ? k[i.C & 255] : stack[base + i.C],
          )
          break
        case 9 /* OP_SETUPVAL */:
          cl.upvals[i.B].setfrom(stack[ra])
          break
        case 10 /* OP_SETTABLE */:
          settable(
            L,
            stack[ra],
            i.B & 256 ? k[i.B & 255] : stack[base + i.B],
            i.C & 256 ? k[i.C & 255] : stack[base + i.C],
          )
          break
        case 11 /* OP_NEWTABLE */:
          stack[ra].sethvalue(ltable.luaH_newsized(L, i.B, i.C))
          break
        case 12 /* OP_SELF */: {
          const rb = stack[base + i.B]
          const key = i.C & 256 ? k[i.C & 255] : stack[base + i.C]
          stack[ra + 1].setfrom(rb)
          luaV_gettable(L, rb, key, ra)
          break
        }
        case 13 /* OP_ADD */: {
          const b = i.B & 256 ? k[i.B & 255] : stack[base + i.B]
          const c = i.C & 256 ? k[i.C & 255] : stack[base + i.C]
          if (b.type === LUA_TNUMFLT && c.type === LUA_TNUMFLT) stack[ra].setfltvalue(b.value + c.value)
          else arith(L, b, c, ra, ltm.TMS.TM_ADD)
          break
        }
        case 14 /* OP_SUB */: {
          const b = i.B & 256 ? k[i.B & 255] : stack[base + i.B]
          const c = i.C & 256 ? k[i.C & 255] : stack[base + i.C]
          if (b.type === LUA_TNUMFLT && c.type === LUA_TNUMFLT) stack[ra].setfltvalue(b.value - c.value)
          else arith(L, b, c, ra, ltm.TMS.TM_SUB)
          break
        }
        case 15 /* OP_MUL */: {
          const b = i.B & 256 ? k[i.B & 255] : stack[base + i.B]
          const c = i.C & 256 ? k[i.C & 255] : stack[base + i.C]
          if (b.type === LUA_TNUMFLT && c.type === LUA_TNUMFLT) stack[ra].setfltvalue(b.value * c.value)
          else arith(L, b, c, ra, ltm.TMS.TM_MUL)
          break
        }
        case 16 /* OP_MOD */:
          arith(
            L,
            i.B & 256 ? k[i.B & 255] : stack[base + i.B],
            i.C & 256 ? k[i.C & 255] : stack[base + i.C],
            ra,
            ltm.TMS.TM_MOD,
          )
          break
        case 17 /* OP_POW */:
          arith(
            L,
            i.B & 256 ? k[i.B & 255] : stack[base + i.B],
            i.C & 256 ? k[i.C & 255] : stack[base + i.C],
            ra,
            ltm.TMS.TM_POW,
          )
          break
        case 18 /* OP_DIV */:
          arith(
            L,
            i.B & 256 ? k[i.B & 255] : stack[base + i.B],
            i.C & 256 ? k[i.C & 255] : stack[base + i.C],
            ra,
            ltm.TMS.TM_DIV,
          )
          break
        case 25 /* OP_UNM */: {
          const b = stack[base + i.B]
          if (b.type === LUA_TNUMFLT) stack[ra].setfltvalue(-b.value)
          else arith(L, b, b, ra, ltm.TMS.TM_UNM)
          break
        }
        case 27 /* OP_NOT */: {
          const b = stack[base + i.B]
          stack[ra].setbvalue(b.value === false || b.type === LUA_TNIL)
          break
        }
        case 28 /* OP_LEN */:
          luaV_objlen(L, stack[ra], stack[base + i.B])
          break
        case 29 /* OP_CONCAT */: {
          L.top = base + i.C + 1 /* mark the end of concat operands */
          luaV_concat(L, i.C - i.B + 1)
          stack[ra].setfrom(stack[base + i.B])
          ldo.adjust_top(L, ci.top) /* restore top */
          break
        }
        case 30 /* OP_JMP */:
          if (i.A !== 0) lfunc.luaF_close(L, base + i.A - 1)
          if (i.sBx < 0 && --g.budget < 0) tick(L)
          ci.l_savedpc += i.sBx
          break
        case 31 /* OP_EQ */: {
          const b = i.B & 256 ? k[i.B & 255] : stack[base + i.B]
          const c = i.C & 256 ? k[i.C & 255] : stack[base + i.C]
          if (b.type === LUA_TLNGSTR) weigh(L, b, c)
          if (luaV_equalobj(L, b, c) !== i.A) ci.l_savedpc++
          else donextjump(L, ci)
          break
        }
        case 32 /* OP_LT */: {
          const b = i.B & 256 ? k[i.B & 255] : stack[base + i.B]
          const c = i.C & 256 ? k[i.C & 255] : stack[base + i.C]
          if (b.type === LUA_TLNGSTR) weigh(L, b, c)
          const less =
            b.type === LUA_TNUMFLT && c.type === LUA_TNUMFLT ? (b.value < c.value ? 1 : 0) : luaV_lessthan(L, b, c)
          if (less !== i.A) ci.l_savedpc++
          else donextjump(L, ci)
          break
        }
        case 33 /* OP_LE */: {
          const b = i.B & 256 ? k[i.B & 255] : stack[base + i.B]
          const c = i.C & 256 ? k[i.C & 255] : stack[base + i.C]
          if (b.type === LUA_TLNGSTR) weigh(L, b, c)
          if (luaV_lessequal(L, b, c) !== i.A) ci.l_savedpc++
          else donextjump(L, ci)
          break
        }
        case 34 /* OP_TEST */: {
          const a = stack[ra]
          const no = a.value === false || a.type === LUA_TNIL
          if (i.C ? no : !no) ci.l_savedpc++
          else donextjump(L, ci)
          break
        }
        case 35 /* OP_TESTSET */: {
          const b = stack[base + i.B]
          const no = b.value === false || b.type === LUA_TNIL
          if (i.C ? no : !no) ci.l_savedpc++
          else {
            stack[ra].setfrom(b)
            donextjump(L, ci)
          }
          break
        }
        case 36 /* OP_CALL */: {
          const nresults = i.C - 1
          if (i.B !== 0) L.top = ra + i.B /* else previous instruction set top */
          if (ldo.luaD_precall(L, ra, nresults)) {
            if (nresults >= 0) ldo.adjust_top(L, ci.top) /* adjust results */
            break
          }
          ci = L.ci
          break frame
        }
        case 37 /* OP_TAILCALL */: {
          if (i.B !== 0) L.top = ra + i.B /* else previous instruction set top */
          if (ldo.luaD_precall(L, ra, LUA_MULTRET)) break /* JS function */
          ci = tailcall(L, cl)
          break frame
        }
        case 38 /* OP_RETURN */: {
          if (cl.p.p.length > 0) lfunc.luaF_close(L, base)
          const b = ldo.luaD_poscall(L, ci, ra, i.B !== 0 ? i.B - 1 : L.top - ra)
          if (ci.callstatus & 8 /* CIST_FRESH */) return /* external invocation: return */
          ci = L.ci
          if (b) ldo.adjust_top(L, ci.top)
          break frame
        }
        case 39 /* OP_FORLOOP */: {
          const step = stack[ra + 2].value
          const idx = stack[ra].value + step
          const limit = stack[ra + 1].value
          if (0 < step ? idx <= limit : limit <= idx) {
            if (--g.budget < 0) tick(L)
            ci.l_savedpc += i.sBx
            stack[ra].value = idx /* update internal index... */
            stack[ra + 3].setfltvalue(idx)
          }
          break
        }
        case 40 /* OP_FORPREP */:
          forprep(L, ra)
          ci.l_savedpc += i.sBx
          break
        case 41 /* OP_TFORCALL */: {
          const cb = ra + 3 /* call base */
          stack[cb + 2].setfrom(stack[ra + 2])
          stack[cb + 1].setfrom(stack[ra + 1])
          stack[cb].setfrom(stack[ra])
          L.top = cb + 3 /* func. + 2 args (state and index) */
          ldo.luaD_callnoyield(L, cb, i.C)
          ldo.adjust_top(L, ci.top)
          break
        }
        case 42 /* OP_TFORLOOP */:
          if (stack[ra + 1].type !== LUA_TNIL) {
            /* continue loop? */
            stack[ra].setfrom(stack[ra + 1]) /* save control variable */
            if (--g.budget < 0) tick(L)
            ci.l_savedpc += i.sBx /* jump back */
          }
          break
        case 43 /* OP_SETLIST */:
          setlist(L, ci, ra, i)
          break
        case 44 /* OP_CLOSURE */:
          ltable.take(CLOSURE)
          pushclosure(L, cl.p.p[i.Bx], cl.upvals, base, ra)
          break
        case 45 /* OP_VARARG */:
          vararg(L, ci, cl, ra, i.B - 1)
          break
        default:
          throw Error('invalid opcode')
      }
    }
  }
}
