#!/usr/bin/env node
// @ts-check
/** A bill of materials in CycloneDX 1.5: what an installation brings, and what is bundled. The same package-lock.json gives the same text. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMain } from './is-main.mjs'

const root = join(import.meta.dirname, '..')
/** Parts of dist/, though only development dependencies here. */
export const BUNDLED = ['fengari', 'preact']

/** @param {string} name @param {string} version */
const purl = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`

/** @param {string} name @param {any} entry */
const component = (name, { version, license, integrity, dev }) => {
  const [algorithm = '', digest = ''] = (integrity ?? '').split('-')
  return {
    type: 'library',
    'bom-ref': purl(name, version),
    name,
    version,
    purl: purl(name, version),
    ...(license && { licenses: [{ expression: license }] }),
    ...(algorithm === 'sha512' && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
    }),
    ...(dev && { properties: [{ name: 'holdfast:bundled', value: 'true' }] }),
  }
}

export const sbom = () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const { name, version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const found = new Map()
  const rest = [...Object.keys(packages[''].dependencies), ...BUNDLED]
  for (const one of rest) {
    if (found.has(one)) continue
    const entry = packages[`node_modules/${one}`]
    if (entry === undefined) throw new Error(`package-lock.json has no ${one}`)
    found.set(one, entry)
    if (!BUNDLED.includes(one)) rest.push(...Object.keys(entry.dependencies ?? {}))
  }
  const refOf = (/** @type {string} */ one) => purl(one, found.get(one).version)
  const names = [...found.keys()].sort()
  const self = purl(name, version)
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      component: { type: 'library', 'bom-ref': self, name, version, purl: self, licenses: [{ expression: license }] },
    },
    components: names.map((one) => component(one, found.get(one))),
    dependencies: [
      { ref: self, dependsOn: [...Object.keys(packages[''].dependencies), ...BUNDLED].sort().map(refOf) },
      ...names.map((one) => ({
        ref: refOf(one),
        dependsOn: BUNDLED.includes(one)
          ? []
          : Object.keys(found.get(one).dependencies ?? {})
              .sort()
              .map(refOf),
      })),
    ],
  }
}

if (isMain(import.meta.url)) console.log(JSON.stringify(sbom(), undefined, 2))
