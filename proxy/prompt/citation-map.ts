import type { CitationMap } from '../answer/citation-labels.ts'
import type { PromptContext } from './prompt-context.ts'

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
  const forms = new Map<string, Map<string, string>>()
  let hasChanged = false
  for (const context of contexts) {
    const { prefix, labels } = labelsOf(texts, context.found)
    if (labels.length === 0) continue
    const known = forms.get(prefix) ?? new Map<string, string>()
    forms.set(prefix, known)
    for (const [place, from] of context.order.entries()) {
      hasChanged ||= labels[place] !== labels[from]
      known.set(labels[place]!, labels[from]!)
    }
  }
  return hasChanged ? [...forms].map(([prefix, labels]) => ({ prefix, labels })) : []
}

/** The labels that belong to the places of a context; none when they travel with its blocks. */
function labelsOf(texts: readonly string[], found: PromptContext): { prefix: string; labels: string[] } {
  const { slots, positional, labelPrefix, isResult } = found
  // the order annotation calls unlabelled blocks so
  if (slots.every(({ label }) => !label)) {
    return { prefix: 'Doc_', labels: isResult ? [] : slots.map((_, place) => String(place + 1)) }
  }
  if (!positional) return { prefix: labelPrefix, labels: [] }
  return { prefix: labelPrefix, labels: slots.map(({ text, label }) => texts[text]!.slice(label!.start, label!.end)) }
}
