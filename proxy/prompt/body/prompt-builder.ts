import { isObject, type Json } from '#engine-adapters/json-object.ts'
import type { JsonPath } from '../../common/json/json-value.ts'
import { isSet } from '../demands/demands.ts'
import { isSorted } from '../scan/words/tool-kind.ts'
import type { Prompt, PromptMessage, PromptText } from './prompt.ts'

interface ToolCall {
  readonly name: string
  readonly given: unknown
}

/** Collects the texts of a body while a format reads it. */
export class PromptBuilder {
  readonly texts: PromptText[] = []
  readonly prompts: Prompt[] = []
  #messages: { -readonly [member in keyof PromptMessage]: PromptMessage[member] }[] = []
  /** by call id */
  readonly #tools = new Map<unknown, ToolCall>()

  /**
   * Records a tool call with its arguments, as JSON or as an object. A result that names the call belongs to this tool.
   */
  call(id: unknown, name: unknown, given: unknown = this.#tools.get(id)?.given): void {
    if (typeof name === 'string') this.#tools.set(id, { name, given })
  }

  /** Adds a message. `rest` is everything in it that is not text. */
  message(
    role: string,
    pieces: readonly PromptText[],
    rest: readonly unknown[],
    { isRendered = false, call }: { readonly isRendered?: boolean; readonly call?: unknown } = {},
  ): void {
    const texts = pieces.map((piece) => this.texts.push(piece) - 1)
    // the first of the rest holds the message's own members, the others are parts that are not text
    const isTextOnly = rest.length === 1
    const called = this.#tools.get(call)
    const before = this.#messages.at(-1)
    if (before?.role === 'user' && role === 'user') before.isFollowed = true
    this.#messages.push({
      role,
      texts,
      rest: JSON.stringify(rest),
      isTextOnly,
      isRendered,
      ...(called && { tool: called.name, ...(asksForSorted(called) && { isSorted: true }) }),
    })
  }

  /** Ends the prompt that the messages so far belong to. */
  endPrompt(preamble: readonly unknown[]): void {
    this.prompts.push({ preamble: JSON.stringify(preamble), messages: this.#messages })
    this.#messages = []
  }
}

function asksForSorted({ given }: ToolCall): boolean {
  return isSorted(typeof given === 'string' ? given : (JSON.stringify(given) ?? ''))
}

/** Reads one API's bodies and adds all texts to the builder. Returns false if the body has an unexpected shape. */
export type PromptFormat = (body: Json, builder: PromptBuilder) => boolean

/** Returns whether a value is an array of objects. */
export function isParts(value: unknown): value is Json[] {
  return Array.isArray(value) && value.every(isObject)
}

/**
 * Splits content, which is a string or an array of parts, into its texts and the rest: parts that are not text, and
 * members of a text's own. `types` are the part types whose `text` counts.
 */
export function splitContent(
  content: unknown,
  path: JsonPath,
  types: readonly string[],
): { pieces: PromptText[]; others: unknown[] } {
  if (typeof content === 'string') return { pieces: [{ path, text: content }], others: [] }
  const pieces: PromptText[] = []
  const others: unknown[] = []
  for (const [place, part] of (isParts(content) ? content : []).entries()) {
    const { type, text } = part
    if (types.includes(type as string) && typeof text === 'string') {
      pieces.push({ path: [...path, place, 'text'], text })
      if (hasOwnMembers(part)) others.push([place, { ...unmarked(part), text: undefined }])
    } else others.push([place, unmarked(part)])
  }
  return { pieces, others }
}

/**
 * Returns a part, a message or a tool without its mark for a cache. No model sees it, and clients move it on from turn
 * to turn: what it marks is the same with it and without.
 */
export function unmarked(part: Json): Json {
  if (!('cache_control' in part)) return part
  const { cache_control: _, ...rest } = part
  return rest
}

/** Returns tools without such marks. */
export function unmarkedTools(tools: unknown): unknown {
  return isParts(tools) ? tools.map(unmarked) : tools
}

const membersOfTexts = new Set(['type', 'text', 'cache_control'])

/** Whether a text part has members that belong to its text alone, and would stay behind if the text moved. */
export function hasOwnMembers(part: Json): boolean {
  return Object.entries(part).some(([name, value]) => !membersOfTexts.has(name) && isSet(value))
}
