import type { SentOrder, SentTurn, TurnKey } from '#index/conversation-store.ts'
import type { PromptContext } from '../prompt/body/prompt-context.ts'
import type { LaidOutMessage, Layout } from '../prompt/layout.ts'
import { asReceived } from '../prompt/turns/turn-memory.ts'

interface OrderedContext extends SentOrder {
  readonly found: PromptContext
}

/** Adds what must be remembered about a message once it is sent. */
export function noteTurn(
  turns: Map<TurnKey, SentTurn>,
  { keys, contextKeys = [], explicit }: LaidOutMessage,
  ordered: readonly OrderedContext[],
): void {
  if (ordered.length === 0) return
  const contexts = ordered.map(({ order, annotation, pointers }): SentOrder => ({ order, annotation, pointers }))
  for (const [i, own] of contextKeys.entries()) {
    for (const key of own) turns.set(key, { kind: 'ordered', contexts: [contexts[i]!] })
  }
  const turn: SentTurn = explicit
    ? { kind: 'explicit', blocks: explicit, context: contexts[0]! }
    : { kind: 'ordered', contexts, ...spansOf(ordered) }
  for (const key of keys) turns.set(key, turn)
}

/** Whether a context was sent differently from how it was received. */
export function isRewritten({ order, annotation, pointers }: SentOrder): boolean {
  return annotation !== undefined || pointers.length > 0 || order.some((from, place) => from !== place)
}

/** Returns what must be remembered about prompts without explicit blocks that are sent as received. */
export function turnsAsReceived({ prompts }: Pick<Layout, 'prompts'>): Map<TurnKey, SentTurn> {
  const turns = new Map<TurnKey, SentTurn>()
  for (const message of prompts.flatMap(({ messages }) => messages)) {
    const ordered = message.contexts.map((found) => ({ found, ...asReceived(found.slots) }))
    noteTurn(turns, message, ordered)
  }
  return turns
}

/** Returns where blocks are that might not be found again, because chunks and templates change. */
function spansOf(ordered: readonly OrderedContext[]): { spans?: number[][]; labels?: number[][] } {
  const certain = ordered.flatMap(({ found }) => found.certain ?? [])
  if (certain.length === 0) return {}
  const spans = certain.map((own) => [...own.spans])
  const labels = certain.map((own) => [...own.labels])
  return labels.some((own) => own.length > 0) ? { spans, labels } : { spans }
}
