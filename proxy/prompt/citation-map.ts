import { LRUCache } from 'lru-cache'
import { digestOf } from '#index/context-block.ts'
import { getOrMake } from '#index/get-or-make.ts'
import type { CitationMap, LabelForm } from '../answer/citations/citation-labels.ts'
import { readSpokenNouns } from '../answer/citations/citation-nouns.ts'
import { holdCitations } from '../answer/citations/mapped-forms.ts'
import type { ContextSlot, PromptContext } from './body/prompt-context.ts'
import { placeLabels } from './body/prompt-context.ts'

/** A context and the order it is sent in. */
interface OrderedContext {
  readonly found: PromptContext
  readonly order: readonly number[]
}

/** Returns how citations in the answer to each prompt map back; empty if all labels mean what they meant. */
export function citationMapsOf(
  texts: readonly string[],
  prompts: readonly { readonly contexts: readonly OrderedContext[] }[],
): CitationMap[] {
  const maps = prompts.map(({ contexts }) => citationMapOf(texts, contexts))
  return maps.some((map) => map.length > 0) ? maps : []
}

/**
 * Returns how citations in an answer map back to the caller's labels: `[2]` as sent may have been received as `[5]`. A
 * label used in several contexts with the same prefix is taken to mean the last one. Empty if all labels mean what they
 * meant, which is so for lists without labels that count up.
 */
export function citationMapOf(texts: readonly string[], contexts: readonly OrderedContext[]): CitationMap {
  const lists = contexts.flatMap(({ found, order }) => {
    const form = labelFormOf(texts, found)
    if (!form) return []
    const own = placeLabels(found, texts)
    return [{ ...form, labels: new Map(order.map((from, place) => [own[place]!, own[from]!])) }]
  })
  const hasChanged = lists.some(({ labels }) => [...labels].some(([sent, received]) => sent !== received))
  return hasChanged ? lists : []
}

/** Returns how the labels of a context are written; undefined if it has none that belong to places. */
export function labelFormOf(texts: readonly string[], context: PromptContext): LabelForm | undefined {
  const { positional, labelPrefix, slots } = context
  const first = slots[0]
  if (!positional || first?.label === undefined) return undefined
  const { text, label } = first
  const names = namesAround(texts, slots)
  const isInParentheses = texts[text]![label.start - 1] === '(' && texts[text]![label.end] === ')'
  return { prefix: labelPrefix, tag: tagOf(texts, first), names, isInParentheses }
}

const namesByText = new LRUCache<string, string[]>({ max: 1_024 })
/** In front of and behind a list. */
const mostAround = 4_000

/** Returns the nouns by which a prompt may call the blocks of a list: those in its first text, and around the list. */
function namesAround(texts: readonly string[], slots: readonly ContextSlot[]): string[] {
  const [first, last] = [slots[0]!, slots.at(-1)!]
  const around = [
    first.text === 0 ? '' : texts[0]!.slice(0, mostAround),
    texts[first.text]!.slice(Math.max(0, first.start - mostAround), first.start),
    texts[last.text]!.slice(last.end, last.end + mostAround),
  ]
  return getOrMake(namesByText, digestOf(around.join('\n')), () => around.flatMap(readSpokenNouns))
}

/** Whether a document contains citations of a list of a kind: documents come again, and reading them takes long. */
const holding = new LRUCache<string, boolean>({ max: 16_384 })
/** Short names of kinds of lists, each given once. */
const kinds = new LRUCache<string, { readonly name: string }>({ max: 1_024 })
let namedKinds = 0

// no answer cites so, unless the labels are written so
const JOINED = /[Dd]oc(?:ument)?_(\d{1,4})/g

/**
 * Returns whether blocks contain what would be mapped as a citation of their list, such as a footnote's `[2]`: it would
 * be altered in a quotation. Or one names another, as in `Doc_2`. `form` and `labels` are those of the list.
 */
export function holdsCitations(
  texts: readonly string[],
  { slots, contents }: PromptContext,
  form: LabelForm,
  labels: readonly string[],
): boolean {
  // the labels of a list count up
  const written = JSON.stringify([form, labels[0], labels.length])
  const kind = getOrMake(kinds, written, () => ({ name: ` ${namedKinds++}` })).name
  return slots.some((slot, i) => {
    const key = contents[i] + kind
    const known = holding.get(key)
    if (known !== undefined) return known
    const content = contentOf(texts, slot)
    const isHolding =
      holdCitations(content, form, labels) ||
      [...content.matchAll(JOINED)].some(([, number]) => labels.includes(number!))
    holding.set(key, isHolding)
    return isHolding
  })
}

/** Returns the content of a block without its label. What an object's members say is prose. */
function contentOf(texts: readonly string[], { text, content, label }: ContextSlot): string {
  const start = content.start + Number(texts[text]![content.start] === '{')
  const { end } = content
  if (!label || label.start < start || label.end > end) return texts[text]!.slice(start, end)
  return texts[text]!.slice(start, label.start) + texts[text]!.slice(label.end, end)
}

/** Returns the tag name if the label is an attribute: `document` in `<document index="3">`. */
function tagOf(texts: readonly string[], { text, start, label }: ContextSlot): string | undefined {
  return /^<([A-Za-z]{1,20})\s/.exec(texts[text]!.slice(start, label!.start))?.[1]
}
