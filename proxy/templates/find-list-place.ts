import { commonEdges } from '#index/common-edges.ts'
import { digestOf } from '#index/context-block.ts'
import type { PromptMessage } from '../prompt/body/prompt.ts'
import type { PromptContext } from '../prompt/body/prompt-context.ts'
import type { ListPlace } from '../prompt/body/template-use.ts'

const longestLead = 48
const longestSide = 40
/** Names in markup may be long. */
const longestMarkup = 1_000
/** A label that the question or the answer follows is short. */
const LABEL = /^[^:：>\n]{0,32}[:：>]/
const QUOTED = /"[^"\n]*"|'[^'\n]{1,300}'/g
// `Source: a.md` and `source=a.md`: what the label names differs from block to block
const NAMED = /([:：=])[ \t]*[^\s"'…][^\n]*/g

/** Describes where a list of two blocks or more stands. `system` is the text of the request's system prompt. */
export function findListPlace(
  context: PromptContext,
  { role, tool = '', texts: own }: Pick<PromptMessage, 'role' | 'tool' | 'texts'>,
  texts: readonly string[],
  { api, model, system }: Pick<ListPlace, 'api' | 'model' | 'system'>,
): ListPlace {
  const first = context.slots[0]!
  const last = context.slots.at(-1)!
  const opening = own[0] === first.text ? texts[first.text]!.slice(0, first.start) : texts[own[0]!]!
  return {
    api,
    model,
    role,
    tool,
    system: leadOf(system),
    lead: leadOf(opening),
    gap: gapOf(context, texts),
    tail: tailOf(texts[last.text]!, context.annotateAt?.text === last.text ? context.annotateAt.offset : last.end),
  }
}

/** Characters of a template's name. */
export const nameLength = 12

/** Names a template: tenants never share one. */
export function nameTemplate(tenant: string, place: ListPlace): string {
  const { api, model, role, tool, system, lead, gap, tail } = place
  const digest = digestOf(JSON.stringify([tenant, api, model, role, tool, system, lead, gap, tail])).slice(
    0,
    nameLength,
  )
  // an argument that begins with a hyphen is an option to commands
  return digest.replaceAll('-', 'x').replaceAll('_', 'y')
}

/** Digits count up, or are dates and amounts: none of them tells templates apart. */
export function foldDigits(text: string): string {
  return text.replace(/\p{Nd}+/gu, '#')
}

/** Returns the first words of a text: its first sentence or line, if that is short. The lead of a lead is itself. */
export function leadOf(text: string): string {
  const begun = text
    .slice(0, 2 * longestLead)
    .trimStart()
    .slice(0, longestLead)
  const end = begun.search(/[:：.。!?>\n]/)
  return foldDigits(end < 0 ? begun : begun.slice(0, end + 1))
}

function tailOf(text: string, offset: number): string {
  const behind = text.slice(offset, offset + 2 * longestLead).trimStart()
  return foldDigits(LABEL.exec(behind)?.[0] ?? '')
}

/** Returns what two gaps between blocks have in common. Names in them, which differ from block to block, are cut out. */
function gapOf({ slots }: PromptContext, texts: readonly string[]): string {
  const gaps: string[] = []
  for (let i = 1; i < Math.min(slots.length, 3); i++) {
    const [before, behind] = [slots[i - 1]!, slots[i]!]
    const text = texts[behind.text]!
    const isOneText = before.text === behind.text
    const gap = text.slice(isOneText ? before.content.end : behind.start, behind.content.start)
    gaps.push(isOneText ? gap : `\0${gap}`)
  }
  // white space beside a content may be the document's own
  const [one, other = one] = gaps.map((gap) => foldDigits(shorten(cutNames(gap.trim()))))
  if (one === other) return one!
  const { start, end } = commonEdges([one!, other!])
  return `${one!.slice(0, start)}…${one!.slice(one!.length - end)}`
}

function cutNames(gap: string): string {
  return shorten(gap, longestMarkup).replace(QUOTED, '"…"').replace(NAMED, '$1…')
}

/** Only the ends of a long gap are markup. */
function shorten(gap: string, longest = longestSide): string {
  return gap.length <= 2 * longest ? gap : `${gap.slice(0, longest)}…${gap.slice(-longest)}`
}
