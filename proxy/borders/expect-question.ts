import type { SentPrompt } from '#index/cache-event.ts'
import type { Decision } from '../reuse/decision.ts'
import type { ReusedContext } from '../reuse/reused-prompt.ts'

/** What closes a list, and what calls for the answer, such as `</documents>` and `Answer:`. */
const longestClosing = 64
/** What stands between two lists that follow one question. */
const longestBetween = 64
/** What an engine's plugin reads of a question. */
const questionTokens = 64
/** Beyond, the estimate is further off than a question is long. */
const mostTokensInFront = 400

/**
 * Returns where an engine should look for the question of a prompt, from one token to another, if it stands in front of
 * the documents: by itself the engine would take the last of them for it. Estimated. Undefined if it stands behind
 * them, too far from the beginning, or in several prompts.
 */
export function expectQuestion(
  { sent, contexts, worlds }: Pick<Decision, 'sent' | 'contexts' | 'worlds'>,
  estimateTokens: (characters: number) => number,
): readonly [start: number, end: number] | undefined {
  const [prompt, ...others] = sent
  const last = contexts.at(-1)
  if (!prompt || others.length > 0 || !last || !worlds || worlds.isShadow) return undefined
  if (isAskedBehind(last, worlds.texts)) return undefined
  const end = estimateTokens(startOfLists(prompt))
  return end > 0 && end <= mostTokensInFront ? [Math.max(0, end - questionTokens), end] : undefined
}

function isAskedBehind({ found: { slots } }: ReusedContext, texts: readonly string[]): boolean {
  const { text, end } = slots.at(-1)!
  return text < texts.length - 1 || texts[text]!.length - end > longestClosing
}

/** Returns where the lists at the end of a prompt begin, in characters. */
function startOfLists({ contexts, prefixes, ends }: SentPrompt): number {
  const starts = contexts.map(({ scope }) => ends[prefixes.indexOf(scope)] ?? 0)
  let first = starts.length - 1
  while (first > 0 && starts[first]! - contexts[first - 1]!.ends.at(-1)! <= longestBetween) first--
  return starts[first] ?? 0
}
