import { c } from './scenarios/c.js'
import { cf } from './scenarios/cf.js'
import { d } from './scenarios/d.js'
import { f } from './scenarios/f.js'
import { h } from './scenarios/h.js'
import { hf } from './scenarios/hf.js'
import { i } from './scenarios/i.js'
import { l } from './scenarios/l.js'
import { m } from './scenarios/m.js'
import { r } from './scenarios/r.js'
import { rw } from './scenarios/rw.js'
import { s } from './scenarios/s.js'
import { u1 } from './scenarios/u1.js'
import { u64 } from './scenarios/u64.js'
import { w } from './scenarios/w.js'
import type { Scenario } from './support/bench.js'

/** In the order in which they run and are shown. */
export const scenarios: readonly Scenario[] = [u1, u64, c, h, cf, hf, f, s, rw, l, d, r, w, m, i]
