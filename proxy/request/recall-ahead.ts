import type { ConversationStore, TurnKey } from '#index/conversation-store.ts'
import type { LaidOut } from '../reuse/decision.ts'
import { layOut } from '../reuse/lay-out-request.ts'
import type { Call } from './call/call.ts'
import type { Pipeline } from './pipeline.ts'
import { toDecisionInput } from './route-call.ts'

/** A large request lets others in this often. */
const sliceMilliseconds = 4
/** Where equal requests make the layout of a large one untrue again and again, it is made at once in the end. */
const mostLayouts = 3

/**
 * Lays a request out before it is decided upon: a large one in slices, between which others are served, and, with Redis,
 * has those of its turns looked for elsewhere that are not known here: at once, and for 5 ms at
 * most. The layout is asked for when it is used: none where there is nothing to gain by it, or where a turn has become
 * known since, be it one that an equal request has sent that was looked up at the same time.
 */
export async function recallAhead(
  { store, sharedTurns, heavyTurns, now }: Pick<Pipeline, 'store' | 'sharedTurns' | 'heavyTurns' | 'now'>,
  call: Call,
): Promise<() => LaidOut | undefined> {
  const isShared = sharedTurns?.isUp ?? false
  if (!isShared && !call.isHeavy) return () => undefined
  const missed = new Set<TurnKey>()
  const isUntrue = (): boolean => [...missed].some((turn) => store.recall(turn) !== undefined)
  const wait = call.isHeavy ? () => heavyTurns.take() : undefined
  let laidOut: LaidOut | undefined
  for (let made = 0; made === 0 || (wait && laidOut && made < mostLayouts && isUntrue()); made++) {
    missed.clear()
    const steps = layOut(toDecisionInput(call), { store: new MissNotingStore(store, missed), now })
    laidOut = await runToEnd(steps, { wait, now })
    if (made === 0 && isShared && laidOut && missed.size > 0) await sharedTurns!.fetch(missed)
    if (wait) await wait()
  }
  return () => (isUntrue() ? undefined : laidOut)
}

/** What is wrong with a request, or with us, is found and told by `decide`. */
async function runToEnd<Result>(
  steps: Generator<void, Result>,
  { wait, now }: { readonly wait: (() => Promise<void>) | undefined; now(): number },
): Promise<Result | undefined> {
  await wait?.()
  let begun = now()
  for (;;) {
    let step: IteratorResult<void, Result>
    try {
      step = steps.next()
    } catch {
      return undefined
    }
    if (step.done) return step.value
    if (!wait || now() - begun < sliceMilliseconds) continue
    await wait()
    begun = now()
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
