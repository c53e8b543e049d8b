/** Writes docs/conformance.md: `npm run conformance`. */
import { writeFileSync } from 'node:fs'
import { PAGE, page } from './catalogue.js'

writeFileSync(PAGE, page())
console.log(`written: ${PAGE}`)
