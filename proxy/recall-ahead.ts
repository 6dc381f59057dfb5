import type { ConversationStore, TurnKey } from '#index/conversation-store.ts'
import { type LaidOut, layOut } from './decide.ts'
import type { Pipeline } from './pipeline.ts'
import type { Call } from './read-call.ts'
import { toDecisionInput } from './route-call.ts'

/**
 * Lays a request out, and has those of its turns looked for elsewhere that are not known here: at once, and for 5 ms at
 * most. The layout is asked for when it is used: none where there is nothing to gain by it, or where a turn has become
 * known since, be it one that an equal request has sent that was looked up at the same time.
 */
export async function recallAhead(
  { store, sharedTurns, now }: Pick<Pipeline, 'store' | 'sharedTurns' | 'now'>,
  call: Call,
): Promise<() => LaidOut | undefined> {
  if (!sharedTurns?.isUp) return () => undefined
  const missed = new Set<TurnKey>()
  const laidOut = tryTo(() => layOut(toDecisionInput(call), { store: new MissNotingStore(store, missed), now }))
  if (laidOut && missed.size > 0) await sharedTurns.fetch(missed)
  return () => {
    for (const turn of missed) if (store.recall(turn) !== undefined) return undefined
    return laidOut
  }
}

/** A store that notes what it was asked for and does not know. */
class MissNotingStore implements ConversationStore {
  readonly #store: ConversationStore
  readonly #missed: Set<TurnKey>

  constructor(store: ConversationStore, missed: Set<TurnKey>) {
    this.#store = store
    this.#missed = missed
  }

  recall: ConversationStore['recall'] = (turn) => {
    const sent = this.#store.recall(turn)
    if (sent === undefined) this.#missed.add(turn)
    return sent
  }

  remember: ConversationStore['remember'] = (turn, sent) => this.#store.remember(turn, sent)

  forget: ConversationStore['forget'] = (turn, sent) => this.#store.forget(turn, sent)
}

/** What is wrong with a request, or with us, is found and told by `decide`. */
function tryTo<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}
