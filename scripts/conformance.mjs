#!/usr/bin/env node
// @ts-check
/** npm run conformance   writes docs/conformance.md: which tests hold which behaviour */
import { join } from 'node:path'
import { build } from './build.mjs'
import { call, root } from './test/parts.mjs'

if (!(await build({ tests: true }))) process.exit(1)
call(process.execPath, [join(root, '.build/test/suites/conformance/main.js')])
