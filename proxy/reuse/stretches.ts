import { addTo } from '#index/group-by.ts'
import type { PromptContext } from '../prompt/body/prompt-context.ts'

/** A stretch of a text that is rewritten: a slot, or the empty stretch where a context's annotation goes. */
interface Stretch {
  readonly start: number
  readonly end: number
  readonly context: number
  /** place among the context's slots; undefined for the annotation */
  readonly slot: number | undefined
}

/** Returns the stretches to rewrite in each text, in order. */
export function stretchesByText(contexts: readonly PromptContext[]): Map<number, Stretch[]> {
  const byText = new Map<number, Stretch[]>()
  contexts.forEach(({ slots, annotateAt }, context) => {
    slots.forEach(({ text, start, end }, slot) => {
      addTo(byText, text, { start, end, context, slot })
    })
    if (!annotateAt) return
    addTo(byText, annotateAt.text, { start: annotateAt.offset, end: annotateAt.offset, context, slot: undefined })
  })
  for (const stretches of byText.values()) stretches.sort((a, b) => a.start - b.start)
  return byText
}
