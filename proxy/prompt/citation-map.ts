import type { PromptContext } from './prompt-context.ts'

/** For each form of label: labels as sent → as received. */
export type CitationMap = readonly { readonly prefix: string; readonly labels: ReadonlyMap<string, string> }[]

/**
 * How citations in the answer are mapped back to the caller's labels: what stands at `[2]` as sent may have come as
 * `[5]`. A label that several contexts bear is taken to be the last one's. Empty when all labels mean what they meant.
 */
export function citationMapOf(
  texts: readonly string[],
  contexts: readonly { readonly found: PromptContext; readonly order: readonly number[] }[],
): CitationMap {
  const forms = new Map<string, Map<string, string>>()
  for (const { found, order } of contexts) {
    if (!found.positional) continue
    const labels = found.slots.map(({ text, label }) => label && texts[text]!.slice(label.start, label.end))
    const known = forms.get(found.labelPrefix) ?? new Map<string, string>()
    forms.set(found.labelPrefix, known)
    for (const [place, from] of order.entries()) {
      const [sent, received] = [labels[place], labels[from]]
      if (sent === undefined || received === undefined) continue
      if (sent === received) known.delete(sent)
      else known.set(sent, received)
    }
  }
  return [...forms].filter(([, labels]) => labels.size > 0).map(([prefix, labels]) => ({ prefix, labels }))
}
