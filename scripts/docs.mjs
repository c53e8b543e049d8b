#!/usr/bin/env node
// @ts-check
/**
 * npm run docs              builds the site into site/.vitepress/dist
 * npm run docs -- --serve   builds it, and serves it at localhost until you press Ctrl-C
 *
 * HOLDFAST_SITE_BASE=/holdfast/   where the site will stand below its host; by default /
 */
import { install, installBeside } from './install.mjs'
import { call } from './test/parts.mjs'

if (!install() || !installBeside('site')) throw new Error('npm could not install the packages')
call(process.execPath, ['site/build.mjs'])
if (process.argv.includes('--serve'))
  call(process.execPath, ['site/node_modules/vitepress/bin/vitepress.js', 'preview', 'site'])
