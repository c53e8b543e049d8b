import { a } from './scenarios/a.js'
import { b } from './scenarios/b.js'
import { c } from './scenarios/c.js'
import { cf } from './scenarios/cf.js'
import { d } from './scenarios/d.js'
import { f } from './scenarios/f.js'
import { g } from './scenarios/g.js'
import { g2 } from './scenarios/g2.js'
import { h } from './scenarios/h.js'
import { hf } from './scenarios/hf.js'
import { i } from './scenarios/i.js'
import { k } from './scenarios/k.js'
import { l } from './scenarios/l.js'
import { m } from './scenarios/m.js'
import { n } from './scenarios/n.js'
import { o } from './scenarios/o.js'
import { p } from './scenarios/p.js'
import { r } from './scenarios/r.js'
import { rw } from './scenarios/rw.js'
import { s } from './scenarios/s.js'
import { u1 } from './scenarios/u1.js'
import { u1s } from './scenarios/u1s.js'
import { u64 } from './scenarios/u64.js'
import { w } from './scenarios/w.js'
import { x } from './scenarios/x.js'
import { xk } from './scenarios/xk.js'
import { y } from './scenarios/y.js'
import { z } from './scenarios/z.js'
import type { Scenario } from './measure/bench.js'

/** In the order in which they run and are shown. */
export const scenarios: readonly Scenario[] = [
  u1,
  u1s,
  u64,
  a,
  c,
  p,
  n,
  h,
  cf,
  hf,
  f,
  s,
  rw,
  l,
  g,
  g2,
  d,
  r,
  b,
  w,
  x,
  xk,
  m,
  k,
  y,
  o,
  i,
  z,
]
