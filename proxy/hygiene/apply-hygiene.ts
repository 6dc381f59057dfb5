import { applySplices, memberSpans, type Splice, valueStart } from '../json/json-spans.ts'
import { findSystemContents } from './find-system-contents.ts'
import { moveSystemText } from './move-system-text.ts'
import { orderTools } from './order-tools.ts'

/** What may be changed before the blocks; nothing unless configured. */
export interface HygieneSettings {
  readonly sortTools: boolean
  readonly moveVolatileHeaders: boolean
}

/** A body with a beginning that more requests share. */
export interface CleanedBody {
  readonly body: string
  readonly hasSortedTools: boolean
  /** volatile lines that now follow the rest of their system message */
  readonly movedLines: number
}

/**
 * Makes the beginning of a request body, which must be a JSON object, the same for more requests. Pure and idempotent:
 * past turns come out as they did before. Returns undefined if nothing changes.
 */
export function applyHygiene(json: string, settings: HygieneSettings): CleanedBody | undefined {
  if (!settings.sortTools && !settings.moveVolatileHeaders) return undefined
  const members = memberSpans(json, valueStart(json))
  const splices: Splice[] = []
  const tools = settings.sortTools ? members.get('tools') : undefined
  const sorted = tools && json[tools.start] === '[' ? orderTools(json, tools) : undefined
  if (sorted) splices.push(sorted)
  const contents = settings.moveVolatileHeaders ? findSystemContents(json, members) : []
  const moved = contents.map((content) => moveSystemText(json, content)).filter((one) => one !== undefined)
  splices.push(...moved)
  if (splices.length === 0) return undefined
  const movedLines = moved.reduce((sum, { lines }) => sum + lines, 0)
  return { body: applySplices(json, splices), hasSortedTools: sorted !== undefined, movedLines }
}
