import type { SkippedReason } from '../common/reasons.ts'
import { toUnreadPrompt } from '../http/bounds/whole-body.ts'
import { lightBlocks, OverBudget, tooLarge, usualLimits, WorkBudget } from '../http/bounds/work-limits.ts'
import type { Received } from '../http/receive/read-received.ts'
import type { PromptSet } from '../prompt/body/prompt.ts'
import type { PromptBody } from '../prompt/body/prompt-body.ts'
import { explicitSplices } from '../prompt/body/prompt-body.ts'
import type { BodySplice } from '../prompt/body/splice-body.ts'
import { spliceTexts } from '../prompt/body/splice-texts.ts'
import type { TextSplice } from '../prompt/body/text-splice.ts'
import { citationMapsOf } from '../prompt/citation-map.ts'
import { finish } from '../prompt/finish.ts'
import type { Layout } from '../prompt/layout.ts'
import type { PlacedContext } from '../prompt/place-explicit-context.ts'
import type { Decision, DecisionInput, DecisionState } from './decision.ts'
import { layOutPlaced, optionsOf, place } from './lay-out-request.ts'
import { isRewritten, turnsAsReceived } from './note-turns.ts'
import { type DifferingMessage, findDiffering, type PlannedRoute, planRoutes } from './plan-route.ts'
import type { ReusedContext } from './reused-prompt.ts'
import { TwoWorlds } from './two-worlds.ts'

const untouched = {
  isRewritten: false,
  contexts: [],
  refusals: [],
  sent: [],
  exactLengths: [],
  promptTokens: 0,
  predictedCachedTokens: 0,
  predictedReusedTokens: undefined,
  mostPredictedCachedTokens: 0,
  blocks: 0,
  moved: 0,
  deduplicated: 0,
  citations: [],
  timing: { parse: 0, index: 0 },
}

/**
 * Decides how a request is sent and to which replica, and changes nothing. Leaves the request as received after an
 * internal error, or if the work takes longer than its budget. Throws `invalid_body` for client mistakes.
 */
export function decide(input: DecisionInput, state: DecisionState): Decision {
  const started = state.now()
  const { prompt, skipped } = input.received
  const options = optionsOf(input)
  const leave = (reason: SkippedReason | undefined, splices = tidied(input.received), fault?: unknown): Decision => ({
    splices,
    // what is the same everywhere leaves the choice to the load
    candidate: state.select(state.candidates.map(() => untouched)),
    options,
    skipped: reason,
    fault,
    ...untouched,
    turns: new Map(),
  })
  if (skipped === tooLarge) return leaveUnread(leave(input.mode === 'off' ? 'mode_off' : tooLarge), input, state)
  if (!prompt?.set) return leave(skipped, tidied(input.received), prompt?.fault)
  const placed = input.laidOut ? input.laidOut.placed : place(prompt, prompt.set)
  if (input.mode === 'off') return leave('mode_off', withExplicitBlocks(prompt, placed) ?? tidied(input.received))
  try {
    return { options, ...reuse(prompt, prompt.set, placed, { ...input, options }, state, started) }
  } catch (fault) {
    const splices = withExplicitBlocks(prompt, placed) ?? tidied(input.received)
    // what the engine computes now is what it can reuse when the conversation continues
    const turns = input.laidOut ? turnsAsReceived(input.laidOut.layout) : new Map()
    if (fault instanceof OverBudget) return leaveUnread({ ...leave(tooLarge, splices), turns }, input, state)
    return leave('internal_error', splices, fault)
  }
}

/**
 * Leaves a request as received because it takes too long. An engine that computes its prompt caches it and evicts
 * others for it, so the mirror is given one prompt, known only by its bytes.
 */
function leaveUnread(
  left: Decision,
  { received, tenant }: DecisionInput,
  { candidates, select }: DecisionState,
): Decision {
  if (!received.scan) return left
  const prompt = toUnreadPrompt(tenant, received.scan)
  const routes = candidates.map(({ mirror }) => ({
    promptTokens: mirror.estimatePromptTokens(prompt),
    predictedCachedTokens: mirror.predictCachedTokens(prompt),
    contexts: [],
  }))
  const candidate = select(routes)
  const { promptTokens, predictedCachedTokens } = routes[candidate]!
  const mostPredictedCachedTokens = Math.max(...routes.map((route) => route.predictedCachedTokens))
  return { ...left, sent: [prompt], candidate, promptTokens, predictedCachedTokens, mostPredictedCachedTokens }
}

/**
 * The time a request may take, starting now. The limit is soft for a conversation that was rewritten before, which
 * would miss everything the engine caches for it if sent as received, and for one with explicit blocks, which could not
 * be continued: such a request is finished.
 */
function toBudget({ budgetMilliseconds }: DecisionInput, layout: Layout, now: () => number): WorkBudget | undefined {
  const messages = layout.prompts.flatMap((prompt) => prompt.messages)
  const lists = messages.flatMap(({ contexts }) => contexts)
  const isLight = lists.reduce((sum, { slots }) => sum + slots.length, 0) <= lightBlocks
  if (budgetMilliseconds === undefined && isLight) return undefined
  const mustGoOn = messages.some(({ past, explicit }) => explicit || past.some((order) => order && isRewritten(order)))
  return new WorkBudget(budgetMilliseconds ?? usualLimits.milliseconds, now, !mustGoOn)
}

function reuse(
  prompt: PromptBody,
  set: PromptSet,
  placed: PlacedContext | undefined,
  input: DecisionInput,
  state: DecisionState,
  started: number,
): Omit<Decision, 'options'> {
  const { tenant, wording, mode, options, received, laidOut: before, isRefused = false } = input
  const layout = before?.layout ?? finish(layOutPlaced(prompt, set, placed, input, state.store))
  const laidOut = state.now()
  const plan = { tenant, options, wording, budget: toBudget(input, layout, state.now) }
  const isShadow = mode === 'shadow'
  const { candidates, plannedTurns } = state
  const routes = planRoutes(layout, candidates, plan, { isShadow, isRefused, plannedTurns })
  const candidate = state.select(routes.sent)
  const route = routes.sent[candidate]!
  const planned = routes.planned[candidate]!
  const { contexts, reused } = route
  const splices = splicesOf(prompt, layout.texts, reused.splices)
  const isUnchanged = splices.length === 0 && received.tidied.length === 0
  const counts = countBlocks(contexts)
  let differing: DifferingMessage | undefined
  // a missing document is reported, whatever was done with the others
  const skipped =
    layout.unresolved ??
    (isRefused ? 'refused_rewritten' : undefined) ??
    (plan.budget?.isSpent ? tooLarge : undefined) ??
    (isUnchanged
      ? reasonFor(input, layout, route, () => (differing = findDiffering(layout, route, candidates[candidate]!)))
      : undefined)
  return {
    splices: isUnchanged ? undefined : splices,
    isRewritten: reused.splices.some((own) => own.length > 0),
    candidate,
    contexts: planned.contexts,
    sent: reused.prompts.map(({ sent }) => sent),
    exactLengths: route.exactLengths,
    turns: reused.turns,
    worlds: new TwoWorlds({
      isShadow,
      areEqual: isShadow ? planned.reused.splices.every((own) => own.length === 0) : isUnchanged,
      planned: planned.reused.prompts.map(({ sent: own }) => own),
      turns: planned.reused.turns,
      texts: layout.texts,
      contexts: planned.contexts.map(({ found }) => found),
      prompts: layout.prompts.map(({ messages }) => messages.flatMap(({ message }) => message.texts)),
      splices: planned.reused.splices,
      other: () =>
        isShadow ? splicesOf(prompt, layout.texts, planned.reused.splices) : withExplicitBlocks(prompt, placed),
    }),
    promptTokens: route.promptTokens,
    predictedCachedTokens: route.predictedCachedTokens,
    predictedReusedTokens: route.predictedReusedTokens,
    mostPredictedCachedTokens: Math.max(...routes.sent.map(({ predictedCachedTokens }) => predictedCachedTokens)),
    citations: options.citations === false ? [] : citationMapsOf(layout.texts, reused.prompts),
    skipped,
    differing,
    refusals: layout.refusals,
    fault: undefined,
    ...counts,
    timing: { parse: laidOut - started + (before?.milliseconds ?? 0), index: state.now() - laidOut },
  }
}

function reasonFor(
  { mode, options, received }: DecisionInput,
  { isUnsure, refusals }: Layout,
  route: PlannedRoute,
  findDifferingMessage: () => DifferingMessage | undefined,
): SkippedReason {
  const { contexts, isReuseEnough } = route
  const asReceived = received.prompt?.demands.asReceived
  if (asReceived) return asReceived
  if (refusals.some(({ refused }) => refused === 'too_many')) return 'too_many_blocks'
  if (contexts.every(({ order }) => order.length === 0)) return isUnsure ? 'unsure_borders' : 'no_blocks'
  if (mode === 'shadow') return 'shadow'
  if (options.reorder === false) return 'reorder_off'
  if (isReuseEnough) return 'reuse_is_enough'
  if (contexts.some(({ found }) => found.isSpokenOf)) return 'spoken_of'
  // no order would help, so that no permission would, either
  if (findDifferingMessage()) return 'differs_before'
  return contexts.some(({ found }) => found.template?.mayMove === false) ? 'not_permitted' : 'nothing_to_gain'
}

/**
 * Returns no splices, rather than undefined, if the body was tidied up: it must be written, although nothing in its
 * prompt is rewritten.
 */
function tidied({ tidied }: Received): readonly BodySplice[] | undefined {
  return tidied.length > 0 ? [] : undefined
}

/**
 * Counts the blocks that were found, those sent in another place than they were received in, and those with pointers.
 */
function countBlocks(contexts: readonly ReusedContext[]): { blocks: number; moved: number; deduplicated: number } {
  const counts = { blocks: 0, moved: 0, deduplicated: 0 }
  for (const { order, pointers } of contexts) {
    counts.blocks += order.length
    counts.moved += order.filter((from, place) => from !== place).length
    counts.deduplicated += new Set(pointers.map((pointer) => pointer.place)).size
  }
  return counts
}

/** Returns splices that insert explicit blocks in rank order; undefined if there are none. */
function withExplicitBlocks(prompt: PromptBody, placed: PlacedContext | undefined): readonly BodySplice[] | undefined {
  if (!prompt.explicit) return undefined
  const texts = prompt.set!.texts.map(({ text }, i) => (i === placed?.at ? placed.text : text))
  return splicesOf(
    prompt,
    texts,
    texts.map(() => []),
  )
}

/** Returns what turns the body that was read into one whose texts are spliced, without what only we understand. */
function splicesOf(
  prompt: PromptBody,
  texts: readonly string[],
  splices: readonly (readonly TextSplice[])[],
): readonly BodySplice[] {
  return [...explicitSplices(prompt), ...spliceTexts(prompt, { texts, splices })]
}
