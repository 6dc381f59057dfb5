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
const seconds = new Map<unknown, number>([
  ['5m', 300],
  ['1h', 3_600],
])

/** A part of a prompt as JSON without its mark; and for how many seconds that mark holds, if it has one. */
interface Piece {
  readonly json: string
  readonly seconds: number | undefined
  readonly unknown: number
}

/** A prompt of more parts has no marks: each part costs a digest, between which nobody else is served. */
const mostPieces = 512

/**
 * Finds the marks in a body of Chat Completions or Messages. Prompts of different tenants never have a prefix in common.
 */
export function findMarks(tenant: string, api: PromptApi, body: Json): MarkedPrompt {
  const prefixes = new Set<string>()
  const found: { prefix: string; seconds: number; end: number }[] = []
  // what plugins are told, and whose request it is, differs under the same prompt
  const { kv_transfer_params, custom_params, safety_identifier, prompt_cache_key, ...prompt } = promptOnly(body)
  const { tools, messages, cache_control: whole, ...rest } = prompt
  const { system, ...head } = rest
  const isMessages = api === 'messages'
  let prefix = JSON.stringify([api, tenant, body.cache_salt, isMessages ? head : rest])
  let [end, unknown] = [0, 0]
  for (const piece of piecesOf(listOf(tools), isMessages ? listOf(system) : [], listOf(messages), whole)) {
    if (prefixes.size === mostPieces) return { prefixes: new Set(), marks: [], unknown: 0 }
    end += piece.json.length
    unknown += piece.unknown
    prefix = hash('sha256', prefix + piece.json, 'base64url').slice(0, 22)
    prefixes.add(prefix)
    if (piece.seconds !== undefined) found.push({ prefix, seconds: piece.seconds, end })
  }
  const lasting = found.filter((mark, i) => found.slice(i + 1).every((later) => later.seconds < mark.seconds))
  return { prefixes, unknown, marks: lasting.map(({ end: at, ...mark }) => ({ ...mark, share: at / end })) }
}

/**
 * Yields the parts of a prompt in the order in which an engine reads them, without the marks at the places that APIs
 * have for them. `whole`: the mark of all of it.
 */
function* piecesOf(
  tools: readonly unknown[],
  system: readonly unknown[],
  messages: readonly unknown[],
  whole: unknown,
): Generator<Piece> {
  for (const tool of tools) yield toPiece(tool, 'function')
  for (const part of system) yield toPiece(part)
  for (const [i, message] of messages.entries())
    yield* piecesOfMessage(message, i === messages.length - 1 ? whole : undefined)
}

function* piecesOfMessage(message: unknown, whole: unknown): Generator<Piece> {
  const { content, cache_control: own, ...rest } = isObject(message) ? message : { content: message }
  const parts = [rest, ...listOf(content)]
  for (const [at, part] of parts.entries()) {
    const inner = isObject(part) && part.type === 'tool_result' ? 'content' : undefined
    yield toPiece(part, inner, at === parts.length - 1 ? [own, whole] : [])
  }
}

/** `inner`: the member that can have marks besides the part itself. `others`: marks that stand at its end, too. */
function toPiece(part: unknown, inner?: string, others: readonly unknown[] = []): Piece {
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
  const known = marks.filter((mark) => mark !== undefined)
  return {
    json: JSON.stringify(bare ?? null),
    seconds: known.length > 0 ? Math.max(...known) : undefined,
    unknown: marks.length - known.length,
  }
}

function secondsOf(mark: unknown): number | undefined {
  if (!isObject(mark) || mark.type !== 'ephemeral') return undefined
  return seconds.get(mark.ttl ?? '5m')
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return value === undefined ? [] : [value]
}
