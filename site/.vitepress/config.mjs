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
  markdown: {
    anchor: { slugify: slug },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  vite: { build: { chunkSizeWarningLimit: 4000 } },
  /** Only pages of the sidebar have one before and one after them. @param {{ relativePath: string, frontmatter: Record<string, unknown> }} page */
  transformPageData(page) {
    if (/^(?:api|errors|files)\//.test(page.relativePath)) Object.assign(page.frontmatter, { prev: false, next: false })
  },
  themeConfig: {
    logo: '/logo.svg',
    nav: bar(),
    sidebar: groups(),
    outline: { level: [2, 3] },
    search: { provider: 'local' },
    notFound: { linkLabel: 'Take me home' },
  },
}
