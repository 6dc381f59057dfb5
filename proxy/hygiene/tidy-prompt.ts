import { applySplices, memberSpans, valueStart } from '../json-spans.ts'
import type { PromptSet } from '../prompt/prompt-body.ts'
import { findVolatileText } from './find-volatile-text.ts'
import { moveVolatileText } from './move-volatile-text.ts'
import { orderTools } from './order-tools.ts'

/** Which habits of clients are undone that keep equal prompts from being equal; all off unless configured. */
export interface Hygiene {
  /** tools stand in a stable order */
  readonly sortTools: boolean
  /** lines that change with every request stand behind the rest of the system text */
  readonly moveVolatileHeaders: boolean
}

/** The body with its tools in a stable order; the same when they are, or are not to be touched. */
export function tidyTools(body: string, members: Readonly<Record<string, unknown>>): string {
  if (!Array.isArray(members.tools)) return body
  const splice = orderTools(body, memberSpans(body, valueStart(body)).get('tools')!)
  return splice ? applySplices(body, [splice]) : body
}

/** The texts with volatile lines of system messages behind their other lines; the same set when there are none. */
export function tidySystem(set: PromptSet): PromptSet {
  const system = new Set(
    set.prompts
      .flatMap(({ messages }) => messages)
      .filter(({ role }) => role === 'system' || role === 'developer')
      .flatMap(({ texts }) => texts),
  )
  let hasMoved = false
  const texts = set.texts.map((text, place) => {
    if (!system.has(place)) return text
    const moved = moveVolatileText(
      text.text,
      findVolatileText(text.text).flatMap(({ line }) => line ?? []),
    )
    hasMoved ||= moved !== text.text
    return { ...text, text: moved }
  })
  return hasMoved ? { ...set, texts } : set
}
