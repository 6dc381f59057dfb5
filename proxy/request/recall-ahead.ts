import { setImmediate as afterIo } from 'node:timers/promises'
import type { SentTurn, TurnKey } from '#index/conversation-store.ts'
import { type Call, toDecisionInput } from '../call/call.ts'
import { countMessages, type PromptSet } from '../prompt/body/prompt.ts'
import type { LaidOut } from '../reuse/decision.ts'
import { layOut } from '../reuse/lay-out-request.ts'
import type { Pipeline } from './pipeline.ts'

/** A request that takes long yields to others this often, each time for as long as it took (`HeavyTurns`). */
const sliceMilliseconds = 4
/** With more messages or characters, a request may take long: the lists in each are found and judged. */
const fewMessages = 8
const fewCharacters = 16 * 1024
/**
 * If equal requests keep invalidating the layout of a request that takes long, stop after this many: `decide` then makes
 * it in one go.
 */
const mostLayouts = 3

/**
 * Lays out a request before the decision, in slices with other requests served in between: a large request from the
 * start, another once it takes long. With Redis, turns that are not known here are looked up elsewhere, all at once and
 * for at most 5 ms. Call the returned function when the layout is used. It returns undefined if laying out ahead gains
 * nothing, or if a missing turn has become known since, perhaps from an equal request that was looked up at the same
 * time.
 */
export async function recallAhead(
  { store, sharedTurns, heavyTurns, now }: Pick<Pipeline, 'store' | 'sharedTurns' | 'heavyTurns' | 'now'>,
  call: Call,
): Promise<() => LaidOut | undefined> {
  const isShared = sharedTurns?.isUp ?? false
  const { set } = call.content.received.prompt ?? {}
  const takesTurns = call.isHeavy || hasManyMessages(set)
  if (!isShared && !takesTurns && isShort(set)) return () => undefined
  const missed = new Set<TurnKey>()
  const recall = (turn: TurnKey): SentTurn | undefined => {
    const sent = store.recall(turn)
    if (sent === undefined) missed.add(turn)
    return sent
  }
  const isUntrue = (): boolean => [...missed].some((turn) => store.recall(turn) !== undefined)
  let isLong = call.isHeavy
  const wait = async (): Promise<void> => {
    isLong = true
    await (takesTurns ? heavyTurns.take() : afterIo())
  }
  let laidOut: LaidOut | undefined
  for (let made = 0; made === 0 || (isLong && laidOut && made < mostLayouts && isUntrue()); made++) {
    missed.clear()
    const steps = layOut(toDecisionInput(call), { store: { recall } })
    if (isLong) await wait()
    laidOut = await runToEnd(steps, { wait, now })
    if (made === 0 && isShared && laidOut && missed.size > 0) await sharedTurns!.fetch(missed)
    if (isLong) await wait()
  }
  return () => (isUntrue() ? undefined : laidOut)
}

function hasManyMessages(set: PromptSet | undefined): boolean {
  return set !== undefined && countMessages(set) > fewMessages
}

function isShort(set: PromptSet | undefined): boolean {
  return (set?.texts ?? []).reduce((sum, { text }) => sum + text.length, 0) <= fewCharacters
}

/** Returns undefined on an error: `decide` meets the same error and reports it. */
async function runToEnd(
  steps: ReturnType<typeof layOut>,
  { wait, now }: { wait(): Promise<void>; now(): number },
): Promise<LaidOut | undefined> {
  let milliseconds = 0
  let begun = now()
  for (;;) {
    let step: ReturnType<typeof steps.next>
    try {
      step = steps.next()
    } catch {
      return undefined
    }
    const spent = now() - begun
    if (step.done) return step.value && { ...step.value, milliseconds: milliseconds + spent }
    if (spent < sliceMilliseconds) continue
    milliseconds += spent
    await wait()
    begun = now()
  }
}
