import type { CitationMap, LabelForm } from '../answer/citations/citation-labels.ts'
import type { ContextSlot, PromptContext } from './body/prompt-context.ts'
import { areTitled } from './places/titled-blocks.ts'

/** A context and the order it is sent in. */
interface OrderedContext {
  readonly found: PromptContext
  readonly order: readonly number[]
}

/**
 * Returns how citations in the answer map back to the caller's labels: `[2]` as sent may have been received as `[5]`. A
 * label used in several contexts is taken to mean the last one. Empty if all labels mean what they meant.
 */
export function citationMapOf(texts: readonly string[], contexts: readonly OrderedContext[]): CitationMap {
  const forms = new Map<string, { labels: Map<string, string>; aliases: Set<string> }>()
  let hasChanged = false
  for (const context of contexts) {
    const { prefix, labels, aliases } = labelsOf(texts, context.found)
    if (labels.length === 0) continue
    const known = forms.get(prefix) ?? { labels: new Map<string, string>(), aliases: new Set<string>() }
    forms.set(prefix, known)
    for (const alias of aliases) known.aliases.add(alias)
    for (const [place, from] of context.order.entries()) {
      hasChanged ||= labels[place] !== labels[from]
      known.labels.set(labels[place]!, labels[from]!)
    }
  }
  if (!hasChanged) return []
  return [...forms].map(([prefix, { labels, aliases }]) => ({
    prefix,
    labels,
    ...(aliases.size > 0 && { aliases: [...aliases] }),
  }))
}

/** Returns how the labels of a context are written; undefined if it has none that belong to places. */
export function labelFormOf(texts: readonly string[], context: PromptContext): LabelForm | undefined {
  const { positional, labelPrefix: prefix, slots } = context
  const first = slots[0]
  if (!positional || first?.label === undefined) return undefined
  const { text, label } = first
  const isInParentheses = texts[text]![label.start - 1] === '(' && texts[text]![label.end] === ')'
  return { prefix, tag: tagOf(texts, first), isInParentheses }
}

interface Labels {
  readonly prefix: string
  readonly labels: readonly string[]
  readonly aliases: readonly string[]
}

/** Returns the position labels of a context. Empty if the labels move with the blocks. */
function labelsOf(texts: readonly string[], found: PromptContext): Labels {
  const { slots, positional, labelPrefix, isResult, annotateAt } = found
  if (slots.every(({ label }) => !label)) {
    // the order annotation calls unlabelled blocks this; without it we cannot know how the model counts them
    const isNamed = !isResult && annotateAt !== undefined
    return { prefix: 'Doc_', labels: isNamed ? slots.map((_, place) => String(place + 1)) : [], aliases: [] }
  }
  if (!positional) return { prefix: labelPrefix, labels: [], aliases: [] }
  const labels = slots.map(({ text, label }) => texts[text]!.slice(label!.start, label!.end))
  const aliases = aliasesOf(labelPrefix, tagOf(texts, slots[0]!))
  // `Document 2` is the block's own name
  return { prefix: labelPrefix, labels, aliases: aliases.length > 0 && areTitled(found, texts) ? [] : aliases }
}

/** Returns the tag name if the label is an attribute: `document` in `<document index="3">`. */
function tagOf(texts: readonly string[], { text, start, label }: ContextSlot): string | undefined {
  return /^<([A-Za-z]{1,20})\s/.exec(texts[text]!.slice(start, label!.start))?.[1]
}

/** Returns other names that models use for the blocks: `[Document 1]`, `[Doc 1]`, `[Document: 1]`. */
function aliasesOf(prefix: string, tag: string | undefined): string[] {
  const word = tag?.toLowerCase() ?? /^(\p{L}[\p{L} ]*?)[ _.:#-]*$/u.exec(prefix)?.[1]
  if (word === undefined) return []
  const others = /^doc(?:ument)?$/i.test(word) ? ['document', 'doc'] : [word]
  return others.flatMap((name) => [`${name} `, `${name}: `]).filter((alias) => alias !== prefix)
}
