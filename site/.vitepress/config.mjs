// @ts-check
import { slug } from '../anchors.mjs'
import { bar, groups } from '../navigation.mjs'

/** Where the site will stand below its host: `/`, or `/holdfast/`. */
const base = process.env['HOLDFAST_SITE_BASE'] ?? '/'

export default {
  title: 'holdfast',
  description: 'Distributed locks for TypeScript on Redis and Valkey',
  lang: 'en',
  base,
  srcDir: '.pages',
  lastUpdated: false,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}logo.svg` }]],
  markdown: { anchor: { slugify: slug }, theme: { light: 'github-light-high-contrast', dark: 'github-dark' } },
  vite: { build: { chunkSizeWarningLimit: 4000 } },
  themeConfig: {
    logo: '/logo.svg',
    nav: bar(),
    sidebar: groups(),
    outline: { level: [2, 3] },
    search: { provider: 'local' },
  },
}
