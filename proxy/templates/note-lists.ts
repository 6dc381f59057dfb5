import type { ScopeId } from '#index/context-block.ts'
import type { PromptContext } from '../prompt/body/prompt-context.ts'
import type { TemplateBook } from './template-book.ts'
import type { Sighting } from './traffic/traffic-evidence.ts'

/** A list as it was found, and its order as it was sent. */
interface SentList {
  readonly found: PromptContext
  /** identity of everything in front of it, as sent */
  readonly scope: ScopeId
  readonly order: readonly number[]
}

/**
 * Learns from the lists of a request that was sent; `texts` are those they were found in, undefined if nothing is kept
 * of them. A list that was sent before is no evidence.
 */
export function noteLists(
  book: TemplateBook,
  tenant: string,
  lists: readonly SentList[],
  texts: readonly string[] | undefined,
): void {
  const followed = new Set<string>()
  for (const { found, order, scope } of lists) {
    const { template, slots, blocks, certain } = found
    if (template?.isFollowed) followed.add(template.id)
    if (template === undefined || template.isPast || texts === undefined) continue
    book.note(tenant, template, {
      front: scope,
      blocks,
      sizes: slots.map(({ start, end }) => end - start),
      ...toSighting(found, texts, template.question),
      foundBy: certain?.by ?? 'rules',
      learntKey: certain?.learntKey,
      moved: order.filter((from, place) => from !== place).length,
    })
  }
  for (const id of followed) book.noteFollowed(id)
}

/** Returns what a list that was found in these texts shows of its template. */
export function toSighting(
  { contents, slots }: Pick<PromptContext, 'contents' | 'slots'>,
  texts: readonly string[],
  question: string,
): Sighting {
  const textOf = (place: number): string => {
    const { text, content } = slots[place]!
    return texts[text]!.slice(content.start, content.end)
  }
  return { contents, text: textOf, question }
}
