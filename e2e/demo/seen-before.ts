import { SYSTEM_MESSAGE, toOwnText, toUserMessage } from './prompt.ts'
import type { Turn } from './workload.ts'

/**
 * Returns the share of the turns' characters that were sent before, in `earlier` or in these turns: everything except
 * questions and new documents with their source names. No cache can save more. Conversation histories are ignored.
 */
export function shareSeenBefore(turns: readonly Turn[], earlier: readonly Turn[]): number {
  const seen = new Set(earlier.flatMap(ownTexts))
  let all = 0
  let fresh = 0
  for (const turn of turns) {
    all += SYSTEM_MESSAGE.content.length + toUserMessage(turn).content.length
    fresh += turn.question.length
    for (const text of ownTexts(turn)) {
      if (!seen.has(text)) fresh += text.length
      seen.add(text)
    }
  }
  return all === 0 ? 0 : 1 - fresh / all
}

function ownTexts({ blocks, isPlain }: Turn): string[] {
  return blocks.map((block) => toOwnText(block, isPlain))
}
