// @ts-check
/** Writes a page for each thing that the package exports, from its types and their comments. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Application } from 'typedoc'

const root = join(import.meta.dirname, '..')

/** The names under which you import the modules, by typedoc's names for them. @returns {Map<string, string>} */
const entries = () => {
  /** @type {{ exports: Record<string, string | { types: string }> }} */
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return new Map(
    Object.entries(manifest.exports).flatMap(([name, target]) =>
      typeof target === 'string'
        ? []
        : [[target.types.replace(/^\.\/dist\/(.*)\.d\.ts$/, '$1'), `holdfast${name.slice(1)}`]],
    ),
  )
}

/** @param {string} out */
export const writeApi = async (out) => {
  const names = entries()
  const app = await Application.bootstrapWithPlugins({
    entryPoints: [...names.keys()].map((file) => join(root, 'src', `${file}.ts`)),
    tsconfig: join(root, 'tsconfig.json'),
    plugin: ['typedoc-plugin-markdown'],
    readme: 'none',
    name: 'API',
    out,
    logLevel: 'Error',
    // The build has checked them.
    skipErrorChecking: true,
    excludePrivate: true,
    excludeInternal: true,
    disableSources: true,
    disableGit: true,
    hideGenerator: true,
    sort: ['source-order'],
    ...{ hideBreadcrumbs: true, hidePageHeader: true, entryFileName: 'index', parametersFormat: 'table' },
    ...{ interfacePropertiesFormat: 'table', typeDeclarationFormat: 'table', useCodeBlocks: true },
  })
  const project = await app.convert()
  if (project === undefined) throw new Error('typedoc could not read the types')
  for (const module of project.children ?? [])
    module.name = names.get(module.name) ?? names.get(`${module.name}/index`) ?? module.name
  await app.generateOutputs(project)
}
