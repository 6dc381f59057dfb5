import { isObject } from '#engine-adapters/json-object.ts'
import { elementSpans, memberSpans, valueStart } from '../../common/json/json-spans.ts'

/** What may be changed before the blocks; nothing unless configured. */
export interface HygieneSettings {
  readonly sort_tools: boolean
  /**
   * What goes behind the history of a conversation, as an application writes it into its system message: the words with
   * which it begins and, behind `{any}`, those with which it ends. Without the latter it ends with the message.
   */
  readonly behind_history: readonly string[]
}

/** The sort keys of a tool, in order of precedence. */
type ToolKey = readonly [type: string, name: string, json: string]

/**
 * Puts the `tools` of a request body, which must be a JSON object, into an order that does not depend on the one they came
 * in, so that more requests begin alike: by type, name and JSON, each tool byte for byte. Pure and idempotent: past turns
 * come out as they did before. Returns undefined if they are in that order, or are better left alone: an element is not an
 * object, carries `cache_control` (which covers everything before it), or shares its type and name with another (engines
 * take the first or the last).
 */
export function orderTools(json: string): string | undefined {
  const tools = memberSpans(json, valueStart(json)).get('tools')
  if (!tools || json[tools.start] !== '[') return undefined
  const elements = elementSpans(json, tools.start)
  const keys = elements.map(({ start, end }) => readKey(json.slice(start, end)))
  if (!keys.every((key) => key !== undefined) || hasDuplicate(keys)) return undefined
  // by code units: the same on every machine, whatever its locale
  const sorted = keys.map((key) => key.join('\0'))
  const order = [...keys.keys()].sort((i, j) => (sorted[i]! < sorted[j]! ? -1 : Number(sorted[i]! > sorted[j]!)))
  if (order.every((from, place) => from === place)) return undefined
  // the separators stay in their places
  const pieces = order.map((from, place) => {
    const [{ start, end }, here] = [elements[from]!, elements[place]!]
    return json.slice(start, end) + json.slice(here.end, elements[place + 1]?.start ?? here.end)
  })
  return json.slice(0, elements[0]!.start) + pieces.join('') + json.slice(elements.at(-1)!.end)
}

function readKey(json: string): ToolKey | undefined {
  const tool: unknown = JSON.parse(json)
  if (!isObject(tool)) return undefined
  const inner = isObject(tool.function) ? tool.function : {}
  if ('cache_control' in tool || 'cache_control' in inner) return undefined
  const name = [inner.name, tool.name, tool.server_label].find((value) => typeof value === 'string')
  return [typeof tool.type === 'string' ? tool.type : '', (name as string | undefined) ?? '', json]
}

function hasDuplicate(keys: readonly ToolKey[]): boolean {
  const named = keys.filter(([, name]) => name !== '').map(([type, name]) => JSON.stringify([type, name]))
  return new Set(named).size < named.length
}
