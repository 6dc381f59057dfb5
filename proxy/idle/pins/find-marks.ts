import { hash } from 'node:crypto'
import { isObject, type Json } from '#engine-adapters/json-object.ts'
import { type PromptApi, promptOnly } from '#engine-adapters/prompt-api.ts'

/** A `cache_control` mark: how far a prompt is worth caching, and how long. */
interface Mark {
  /** identifies the prompt up to the mark, as sent */
  readonly prefix: string
  readonly seconds: number
  /** how much of the prompt stands up to the mark, from 0 to 1 */
  readonly share: number
}

/** The marks of a prompt. */
export interface MarkedPrompt {
  /** the last mark of each time to live that no later mark outlives */
  readonly marks: readonly Mark[]
  /** marks of another type or time to live, which say nothing that we know */
  readonly unknown: number
  /** the prompt up to each place at which a mark can stand, as in `Mark.prefix` */
  readonly prefixes: ReadonlySet<string>
}

/** Times to live in Anthropic's API; 5m if a mark names none. */
const seconds = new Map<unknown, number>(Object.entries({ '5m': 300, '1h': 3_600 }))

/** A part of a prompt, the member of it that can have marks of its own, and other marks that stand at its end. */
type Part = readonly [part: unknown, inner?: string | undefined, others?: readonly unknown[]]

/** A prompt of more parts has no marks: each part costs a digest, between which nobody else is served. */
const mostParts = 512

/**
 * Finds the marks in a body of Chat Completions or Messages. Prompts of different tenants never have a prefix in common.
 */
export function findMarks(tenant: string, api: PromptApi, body: Json): MarkedPrompt {
  // what plugins are told, and whose request it is, differs under the same prompt
  const { kv_transfer_params, custom_params, safety_identifier, prompt_cache_key, ...prompt } = promptOnly(body)
  const { tools, messages, cache_control: whole, ...rest } = prompt
  const { system, ...head } = rest
  const isMessages = api === 'messages'
  const said = listOf(messages)
  // in the order in which an engine reads them
  const parts: readonly Part[] = [
    ...listOf(tools).map((tool): Part => [tool, 'function']),
    ...(isMessages ? listOf(system) : []).map((part): Part => [part]),
    ...said.flatMap((message, i) => partsOfMessage(message, i === said.length - 1 ? whole : undefined)),
  ]
  if (parts.length > mostParts) return { prefixes: new Set(), marks: [], unknown: 0 }
  let prefix = JSON.stringify([api, tenant, body.cache_salt, isMessages ? head : rest])
  let [end, unknown] = [0, 0]
  const places = parts.map((part) => {
    const { json, marks } = readPart(part)
    const known = marks.filter((mark) => mark !== undefined)
    end += json.length
    unknown += marks.length - known.length
    prefix = hash('sha256', prefix + json, 'base64url').slice(0, 22)
    return { prefix, end, seconds: Math.max(0, ...known) }
  })
  const lasting = places.filter((mark, i) => places.slice(i + 1).every((later) => later.seconds < mark.seconds))
  return {
    prefixes: new Set(places.map((place) => place.prefix)),
    unknown,
    marks: lasting.filter(({ seconds }) => seconds > 0).map(({ end: at, ...mark }) => ({ ...mark, share: at / end })),
  }
}

/** `whole`: the mark of all of the prompt, of which this message is the end. */
function partsOfMessage(message: unknown, whole: unknown): Part[] {
  const { content, cache_control: own, ...rest } = isObject(message) ? message : { content: message }
  const parts = [rest, ...listOf(content)]
  return parts.map((part, at): Part => {
    const inner = isObject(part) && part.type === 'tool_result' ? 'content' : undefined
    return [part, inner, at === parts.length - 1 ? [own, whole] : []]
  })
}

/** Returns a part without its marks, and for how many seconds each of these holds; undefined: we do not know. */
function readPart([part, inner, others = []]: Part): { json: string; marks: (number | undefined)[] } {
  const marks = others.filter((mark) => mark != null).map(secondsOf)
  const withoutMark = (value: unknown): unknown => {
    if (!isObject(value) || value.cache_control == null) return value
    const { cache_control: mark, ...rest } = value
    const holds = secondsOf(mark)
    marks.push(holds)
    return holds === undefined ? value : rest
  }
  let bare = withoutMark(part)
  if (inner !== undefined && isObject(bare) && inner in bare) {
    const within = bare[inner]
    bare = { ...bare, [inner]: Array.isArray(within) ? within.map(withoutMark) : withoutMark(within) }
  }
  return { json: JSON.stringify(bare ?? null), marks }
}

function secondsOf(mark: unknown): number | undefined {
  if (!isObject(mark) || mark.type !== 'ephemeral') return undefined
  return seconds.get(mark.ttl ?? '5m')
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return value === undefined ? [] : [value]
}
