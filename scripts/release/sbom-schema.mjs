// @ts-check
/** Whether a bill of materials is one: the official JSON schema of CycloneDX 1.5, in its strict form, as the project's own library has it. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { installBeside } from '../install.mjs'

const FOLDER = 'scripts/release/packages'

/** @param {any} bom @returns {Promise<string[]>} what is wrong */
export const sbomProblems = async (bom) => {
  // The schema takes any text here.
  if (bom.specVersion !== '1.5') return [`specVersion is ${bom.specVersion}`]
  if (!installBeside(FOLDER)) throw new Error(`the packages of ${FOLDER} could not be installed`)
  const load = createRequire(join(import.meta.dirname, 'packages/package.json'))
  const { Spec, Validation } = load('@cyclonedx/cyclonedx-library')
  const problems = await new Validation.JsonStrictValidator(Spec.Version.v1dot5).validate(JSON.stringify(bom))
  return problems === null ? [] : [problems].flat().map((one) => JSON.stringify(one))
}
