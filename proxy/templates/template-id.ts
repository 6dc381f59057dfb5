import { digestOf } from '#index/context-block.ts'
import type { ListPlace } from '../prompt/body/template-use.ts'

const length = 12
const ID = new RegExp(`^[A-Za-z0-9]{${length}}$`)

/** Names a template: tenants never share one. */
export function nameTemplate(tenant: string, place: ListPlace): string {
  const { api, role, tool, system, lead, gap, tail } = place
  const digest = digestOf(JSON.stringify([tenant, api, role, tool, system, lead, gap, tail])).slice(0, length)
  // an argument that begins with a hyphen is an option to commands
  return digest.replaceAll('-', 'x').replaceAll('_', 'y')
}

/** Returns whether a value can be the name of a template. */
export function isTemplateId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value)
}
