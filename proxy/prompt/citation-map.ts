import type { CitationMap } from '../answer/citations/citation-labels.ts'
import type { ContextSlot, PromptContext } from './body/prompt-context.ts'
import { areTitled } from './places/titled-blocks.ts'

/** A context with the order it is sent in. */
interface OrderedContext {
  readonly found: PromptContext
  readonly order: readonly number[]
}

/**
 * How citations in the answer are mapped back to the caller's labels: what stands at `[2]` as sent may have come as
 * `[5]`. A label that several contexts bear is taken to be the last one's. Empty when all labels mean what they meant.
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

interface Labels {
  readonly prefix: string
  readonly labels: readonly string[]
  readonly aliases: readonly string[]
}

/** The labels that belong to the places of a context; none when they travel with its blocks. */
function labelsOf(texts: readonly string[], found: PromptContext): Labels {
  const { slots, positional, labelPrefix, isResult, annotateAt } = found
  if (slots.every(({ label }) => !label)) {
    // the order annotation calls unlabelled blocks so; without one it is not known how the model counts them
    const isNamed = !isResult && annotateAt !== undefined
    return { prefix: 'Doc_', labels: isNamed ? slots.map((_, place) => String(place + 1)) : [], aliases: [] }
  }
  if (!positional) return { prefix: labelPrefix, labels: [], aliases: [] }
  const labels = slots.map(({ text, label }) => texts[text]!.slice(label!.start, label!.end))
  const aliases = aliasesOf(labelPrefix, tagOf(texts, slots[0]!))
  // `Document 2` is what a block calls itself
  return { prefix: labelPrefix, labels, aliases: aliases.length > 0 && areTitled(found, texts) ? [] : aliases }
}

/** `document` where the label is an attribute, as in `<document index="3">`. */
function tagOf(texts: readonly string[], { text, start, label }: ContextSlot): string | undefined {
  return /^<([A-Za-z]{1,20})\s/.exec(texts[text]!.slice(start, label!.start))?.[1]
}

/** What models call the blocks besides what the prompt does: `[Document 1]`, `[Doc 1]`, `[Document: 1]`. */
function aliasesOf(prefix: string, tag: string | undefined): string[] {
  const word = tag?.toLowerCase() ?? /^(\p{L}[\p{L} ]*?)[ _.:#-]*$/u.exec(prefix)?.[1]
  if (word === undefined) return []
  const others = /^doc(?:ument)?$/i.test(word) ? ['document', 'doc'] : [word]
  return others.flatMap((name) => [`${name} `, `${name}: `]).filter((alias) => alias !== prefix)
}
