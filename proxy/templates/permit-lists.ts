import type { Mode } from '../common/request-options.ts'
import type { PromptContext } from '../prompt/body/prompt-context.ts'
import type { PermitLists } from '../prompt/layout.ts'
import { isOfSystem, questionOf } from '../prompt/places/words-outside.ts'
import { findListPlace } from './find-list-place.ts'
import type { TemplateBook } from './template-book.ts'

interface Permission {
  readonly tenant: string
  readonly api: string
  readonly model: string
  readonly mode: Mode
}

/**
 * Returns what names the template of every list in a prompt and says whether it may be moved, even if it was moved when
 * the same was asked before. Lists that the application states, and results of tools, which are single blocks, are of no
 * template.
 */
export function permitLists(book: TemplateBook, { tenant, api, model, mode }: Permission): PermitLists {
  return (messages, texts) => {
    if (!messages.some(({ contexts }) => contexts.some(isJudged))) return messages
    const [rules] = messages.find(isOfSystem)?.message.texts ?? []
    const system = rules === undefined ? '' : texts[rules]!
    const asking = messages.findLast(({ message }) => message.role === 'user')
    const asked = asking && questionOf(asking, texts)
    const lastAnswer = messages.findLastIndex(({ message }) => message.role === 'assistant')
    return messages.map((laidOut, at) => {
      const { message, contexts, explicit, past } = laidOut
      if (explicit || !contexts.some(isJudged)) return laidOut
      const question = asked ?? questionOf(laidOut, texts)
      const isAnswered = at < lastAnswer
      const permitted = contexts.map((context, i) => {
        if (!isJudged(context)) return context
        const place = findListPlace(context, message, texts, { api, model, system })
        const isPast = past[i] !== undefined
        const use = book.use(tenant, mode, place, { ...context, question })
        return { ...context, template: { ...use, isPast, isFollowed: isPast && isAnswered } }
      })
      // what is asked again is judged again; the turns of a rendered prompt are not told apart here
      if (isAnswered || message.isRendered) return { ...laidOut, contexts: permitted }
      const kept = past.map((sent, i) => (permitted[i]?.template?.mayMove === false ? undefined : sent))
      return { ...laidOut, contexts: permitted, past: kept }
    })
  }
}

/** Whether a list needs permission: it was found, not stated, and could be moved. */
function isJudged({ slots, isResult, certain }: PromptContext): boolean {
  return (
    !isResult && slots.length > 1 && (certain === undefined || certain.by === 'known_chunks' || certain.by === 'learnt')
  )
}
