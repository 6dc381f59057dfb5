import { isCount, isObject, tryObject } from '#engine-adapters/json-object.ts'
import type { ListPlace } from '../prompt/body/template-use.ts'
import { nameLength } from './find-list-place.ts'
import { isLearntTemplate, type LearntTemplate } from './learner/learnt-template.ts'
import { isOfTenant } from './learner/learnt-templates.ts'
import { Proof } from './proof/proof.ts'
import { Template } from './template.ts'
import { TrafficEvidence } from './traffic/traffic-evidence.ts'

const placeNames = ['api', 'model', 'role', 'tool', 'system', 'lead', 'gap', 'tail'] as const
const longestName = 1_024

/** A template, and its borders, if they were learnt. */
interface TemplateRecord {
  readonly template: Template
  readonly borders: LearntTemplate | undefined
}

/** Writes what is known of a template, for other proxies and for later. */
export function writeTemplate({ template, borders }: TemplateRecord): string {
  const { id, tenant, place, foundBy, requests, seenAhead, blocks, moved, followed, traffic, proof } = template
  const counts = { requests, seen_ahead: seenAhead, blocks, moved, followed }
  const evidence = { traffic: traffic.toRecord(), proof: proof.toRecord() }
  // before its place is known to be constant, its borders may be words of one user
  const learnt = place && { borders }
  return JSON.stringify({ id, tenant, place, found_by: foundBy, ...learnt, ...counts, ...evidence })
}

/** Reads a template; undefined if the text is not one, since anything may be in Redis. */
export function readTemplate(text: string): TemplateRecord | undefined {
  const record = tryObject(text)
  if (!record) return undefined
  const { id, tenant, place, borders, found_by: foundBy } = record
  if (!isTemplateId(id) || !isName(tenant) || !isName(foundBy)) return undefined
  const counts = [record.requests, record.blocks, record.moved, record.followed, record.seen_ahead ?? 0]
  const [traffic, proof] = [TrafficEvidence.fromRecord(record.traffic), Proof.fromRecord(record.proof)]
  if (!counts.every(isCount) || traffic === undefined || proof === undefined) return undefined
  if (place !== undefined && !isPlace(place)) return undefined
  if (borders !== undefined && !(place && isLearntTemplate(borders) && isOfTenant(borders, tenant))) return undefined
  const [requests, blocks, moved, followed, seenAhead] = counts as number[]
  const known = { place, foundBy, learntKey: borders?.key, traffic, proof }
  const counted = { requests, blocks, moved, followed, seenAhead }
  return { template: Object.assign(new Template(tenant, id), known, counted), borders }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= longestName
}

function isPlace(value: unknown): value is ListPlace {
  return isObject(value) && placeNames.every((name) => isName(value[name]))
}

const ID = new RegExp(`^[A-Za-z0-9]{${nameLength}}$`)

/** Returns whether a value can be the name of a template. */
export function isTemplateId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value)
}
