import type { PromptContext } from '../prompt/body/prompt-context.ts'
import type { TemplateBook } from './template-book.ts'

/** A request's lists as they were sent, and the texts they were found in. */
interface SentLists {
  readonly contexts: readonly { readonly found: PromptContext; readonly order: readonly number[] }[]
  readonly worlds?: { readonly texts: readonly string[] } | undefined
}

/** Learns from the lists of a request that was sent. A list that was sent before is no evidence. */
export function noteLists(book: TemplateBook, tenant: string, { contexts, worlds }: SentLists): void {
  const followed = new Set<string>()
  for (const { found, order } of contexts) {
    const { template, slots, blocks, contents, certain } = found
    if (template?.isFollowed) followed.add(template.id)
    if (template === undefined || template.isPast || worlds === undefined) continue
    book.note(tenant, template, {
      blocks,
      contents,
      sizes: slots.map(({ start, end }) => end - start),
      text: (place) => {
        const { text, content } = slots[place]!
        return worlds.texts[text]!.slice(content.start, content.end)
      },
      question: template.question,
      foundBy: certain?.by ?? 'rules',
      moved: order.filter((from, place) => from !== place).length,
    })
  }
  for (const id of followed) book.noteFollowed(id)
}
