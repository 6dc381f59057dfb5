import type { Decision } from '../../reuse/decision.ts'
import type { ReusedContext } from '../../reuse/reused-prompt.ts'

/** What an engine's plugin reads of a question. */
const questionTokens = 64
/** Measured on five traces, the estimate is off by at most 35 %: up to here, that is less than is read of a question. */
const mostTokensInFront = 160
/** Tags, signs, and what calls for the answer: `</documents>` and `Helpful answer:` ask nothing. */
const ASKS_NOTHING = /^(?:[^\p{L}\p{N}<]|<[^<>]{0,60}>)*(?:(?:\p{L}{1,20} ){0,2}\p{L}{1,20}[:：][^\p{L}\p{N}]*)?$/u
const OPENING_MARKUP = /(?:\s|<[^<>]{1,60}>|[[({])*$/u
/** More text is no markup. */
const longestMarkup = 256

/**
 * Returns where an engine should look for a question that stands in front of the documents, in the same text: its first
 * token and the one behind its last, estimated. Without that, an engine takes the last document for the question if that
 * document is new. Undefined if words stand behind or between the documents, or if the question ends too far from the
 * beginning of the prompt.
 */
export function findQuestionInFront(
  { sent, contexts, worlds }: Pick<Decision, 'sent' | 'contexts' | 'worlds'>,
  estimateTokens: (characters: number) => number,
): readonly [start: number, end: number] | undefined {
  const [prompt, ...others] = sent
  if (!prompt || others.length > 0 || !worlds || worlds.isShadow) return undefined
  const { texts } = worlds
  const lists = contexts.filter(({ found }) => found.slots.at(-1)?.text === texts.length - 1)
  const [first] = lists
  if (!first || lists.some((list, i) => isAsked(textBehind(list, lists[i + 1], texts)))) return undefined
  const { text, start } = first.found.slots[0]!
  const front = texts[text]!.slice(0, start)
  const markup = OPENING_MARKUP.exec(front.slice(-longestMarkup))![0].length
  if (front.length === markup) return undefined
  const end = estimateTokens(prompt.ends[prompt.prefixes.indexOf(first.scope)]! - markup)
  return end <= mostTokensInFront ? [Math.max(0, end - questionTokens), end] : undefined
}

function isAsked(behind: string): boolean {
  return behind.length > longestMarkup || !ASKS_NOTHING.test(behind)
}

/** Returns what stands behind a list, up to the next one of its text. */
function textBehind({ found }: ReusedContext, next: ReusedContext | undefined, texts: readonly string[]): string {
  const { text, end } = found.slots.at(-1)!
  return texts[text]!.slice(end, next?.found.slots[0]?.start)
}
