import { applySplices, memberSpans, valueStart } from '../json/json-spans.ts'
import { orderTools } from './order-tools.ts'

/** What may be changed before the blocks; nothing unless configured. */
export interface HygieneSettings {
  readonly sortTools: boolean
}

/**
 * Makes the beginning of a request body, which must be a JSON object, the same for more requests: its tools in a stable
 * order. Pure and idempotent: past turns come out as they did before. Returns undefined if nothing changes.
 */
export function applyHygiene(json: string, { sortTools }: HygieneSettings): string | undefined {
  if (!sortTools) return undefined
  const tools = memberSpans(json, valueStart(json)).get('tools')
  const sorted = tools && json[tools.start] === '[' ? orderTools(json, tools) : undefined
  return sorted && applySplices(json, [sorted])
}
