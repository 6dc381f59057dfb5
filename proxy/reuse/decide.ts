import type { SentPrompt } from '#index/cache-event.ts'
import type { ConversationStore, SentTurn, TurnKey } from '#index/conversation-store.ts'
import { asksForData } from '../answer/asks-for-data.ts'
import type { CitationMap } from '../answer/citation-labels.ts'
import { toUnreadPrompt } from '../bounds/whole-body.ts'
import { OverBudget, WorkBudget } from '../bounds/work-budget.ts'
import { tooLarge } from '../bounds/work-limits.ts'
import type { CertainLists } from '../chunks/certain-lists.ts'
import { TwoWorlds } from '../gain/two-worlds.ts'
import type { BodySplice } from '../prompt/body/splice-body.ts'
import { spliceTexts } from '../prompt/body/splice-texts.ts'
import { citationMapOf } from '../prompt/citation-map.ts'
import type { VolatileFields } from '../prompt/cut-ranks.ts'
import type { PatternLists, PlacedRefusal } from '../prompt/find-contexts.ts'
import { layOutPrompts } from '../prompt/lay-out-prompt.ts'
import type { Layout } from '../prompt/layout.ts'
import { type PlacedContext, placeExplicitContext } from '../prompt/place-explicit-context.ts'
import { explicitSplices, type PromptBody, type PromptSet } from '../prompt/prompt-body.ts'
import type { Received } from '../request/read-received.ts'
import type { RequestOptions } from '../request/request-options.ts'
import type { Candidate, PlannedRoute, Route } from '../routing/plan-route.ts'
import { planRoutes } from '../routing/plan-routes.ts'
import { isRewritten, turnsAsReceived } from './note-turns.ts'
import type { ReusedContext } from './reuse-prompt.ts'
import type { Wording } from './wording.ts'

export type Mode = 'on' | 'shadow' | 'off'

/** What is to be done with one request. */
export interface Decision {
  /** what is changed in the JSON of the body that was read; undefined: the body goes as received */
  readonly splices: readonly BodySplice[] | undefined
  /** which of the candidates it is made for */
  readonly candidate: number
  readonly contexts: readonly ReusedContext[]
  /** its prompts, as the engine will see them */
  readonly sent: readonly SentPrompt[]
  /** by prompt: how many of its characters will stand in the engine's exact cache; undefined: all of them */
  readonly exactLengths: readonly (number | undefined)[]
  readonly turns: ReadonlyMap<TurnKey, SentTurn>
  /** as it is sent, and as it would be in the other mode; undefined: its prompts could not be read */
  readonly worlds?: TwoWorlds | undefined
  /** as estimated before the engine has counted */
  readonly promptTokens: number
  readonly predictedCachedTokens: number
  /** behind these, what is taken over from another position and not computed again; undefined: nothing ever is */
  readonly predictedReusedTokens: number | undefined
  /** of the candidate that holds most of it */
  readonly mostPredictedCachedTokens: number
  readonly blocks: number
  readonly moved: number
  readonly deduplicated: number
  /** labels as sent → as received, for citations in the answer; empty when they are the same */
  readonly citations: CitationMap
  readonly options: RequestOptions
  /** why nothing was done, or why documents of a past turn are missing */
  readonly skipped: string | undefined
  /** what looks like a list of blocks and is left alone */
  readonly refusals: readonly PlacedRefusal[]
  /** a fault of ours, if that is why */
  readonly fault: unknown
  /** milliseconds */
  readonly timing: { readonly parse: number; readonly index: number }
}

export interface DecisionInput {
  readonly received: Received
  readonly mode: Mode
  readonly tenant: string
  /** name of the conversation, from the header */
  readonly conversation: string | undefined
  /** as configured and as the header has them */
  readonly options: RequestOptions
  readonly wording: Wording
  /** blocks are moved only where that saves more than the annotation takes */
  readonly mustPay?: boolean | undefined
  /** what becomes of fields that only rank blocks; undefined: they are kept */
  readonly volatileFields?: VolatileFields | undefined
  readonly patternLists?: PatternLists | undefined
  /** finds lists whose borders are known */
  readonly certain?: CertainLists | undefined
  /** what `layOut` made of it, if that was done before */
  readonly laidOut?: LaidOut | undefined
  /** how long finding and ordering blocks may take; undefined: as long as it takes */
  readonly budgetMilliseconds?: number | undefined
}

/** The prompts of a request laid out, and what that took. */
export interface LaidOut {
  readonly layout: Layout
  readonly placed: PlacedContext | undefined
  readonly milliseconds: number
}

export interface DecisionState {
  /** the replicas that may be chosen: one at least */
  readonly candidates: readonly Candidate[]
  readonly store: ConversationStore
  /** in shadow mode: how turns would have been sent */
  readonly plannedTurns?: Pick<ConversationStore, 'recall'> | undefined
  /** chooses among the candidates whose routes these are: all, or the first of them */
  select(routes: readonly Route[]): number
  /** milliseconds */
  now(): number
}

const untouched = {
  contexts: [],
  refusals: [],
  sent: [],
  exactLengths: [],
  turns: new Map<TurnKey, SentTurn>(),
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
 * Decides how a request is sent, and to which replica, and changes nothing. The one place that fails open: a fault of
 * ours leaves the request as received, and so does work that takes longer than its budget. Throws `invalid_body` for what the client must mend.
 */
export function decide(input: DecisionInput, state: DecisionState): Decision {
  const started = state.now()
  const { prompt, skipped } = input.received
  const options = { ...input.options, ...prompt?.explicit?.options }
  const leave = (reason: string | undefined, splices = tidied(input.received), fault?: unknown): Decision => ({
    splices,
    candidate: selectByLoad(state),
    options,
    skipped: reason,
    fault,
    ...untouched,
  })
  if (skipped === tooLarge) return leaveUnread(leave(input.mode === 'off' ? 'mode_off' : tooLarge), input, state)
  if (!prompt?.set) return leave(skipped, tidied(input.received), prompt?.fault)
  const placed = input.laidOut ? input.laidOut.placed : place(prompt, prompt.set, input.wording)
  if (input.mode === 'off') return leave('mode_off', withExplicitBlocks(prompt, placed) ?? tidied(input.received))
  try {
    return { options, ...reuse(prompt, prompt.set, placed, { ...input, options }, state, started) }
  } catch (fault) {
    const splices = withExplicitBlocks(prompt, placed) ?? tidied(input.received)
    // what the engine computes now is what it reuses when the conversation goes on
    const turns = input.laidOut ? turnsAsReceived(input.laidOut.layout) : untouched.turns
    if (fault instanceof OverBudget) return leaveUnread({ ...leave(tooLarge, splices), turns }, input, state)
    return leave('internal_error', splices, fault)
  }
}

/**
 * Leaves a request as received that takes too long. An engine that computes its prompt holds it, and has let go of others
 * for it: the mirror is told of one prompt, of which nothing is known but its bytes.
 */
function leaveUnread(
  left: Decision,
  { received, tenant }: DecisionInput,
  { candidates, select }: DecisionState,
): Decision {
  if (!received.bytes) return left
  const prompt = toUnreadPrompt(tenant, received.bytes)
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
 * Lays out the prompts of a request with the turns that are known, a message a step; undefined when they are to be left
 * alone.
 */
export function* layOut(
  input: DecisionInput,
  { store, now }: Pick<DecisionState, 'store' | 'now'>,
): Generator<void, LaidOut | undefined> {
  const { prompt } = input.received
  if (!prompt?.set || input.mode === 'off') return undefined
  let milliseconds = 0
  let begun = now()
  const placed = place(prompt, prompt.set, input.wording)
  const steps = layOutSet(prompt, prompt.set, placed, input, store)
  for (;;) {
    const step = steps.next()
    const at = now()
    milliseconds += at - begun
    if (step.done) return { layout: step.value, placed, milliseconds }
    yield
    begun = now()
  }
}

function toEnd<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/**
 * What a request may take, counted from now on. Sent as received, a conversation that was rewritten would miss all that
 * the engine holds of it, and one with blocks of its own could not be gone on with: such a request is finished.
 */
function toBudget({ budgetMilliseconds }: DecisionInput, layout: Layout, now: () => number): WorkBudget | undefined {
  if (budgetMilliseconds === undefined) return undefined
  const messages = layout.prompts.flatMap((prompt) => prompt.messages)
  const mustGoOn = messages.some(({ past, explicit }) => explicit || past.some((order) => order && isRewritten(order)))
  return new WorkBudget(budgetMilliseconds, now, !mustGoOn)
}

function layOutSet(
  prompt: PromptBody,
  set: PromptSet,
  placed: PlacedContext | undefined,
  { mode, tenant, conversation, options, wording, volatileFields, patternLists, certain }: DecisionInput,
  store: ConversationStore,
): Generator<void, Layout> {
  const merged = { ...options, ...prompt.explicit?.options }
  const { tools } = prompt.members
  return layOutPrompts(set, placed, {
    tenant,
    conversation: prompt.explicit?.conversation ?? conversation,
    options: merged,
    store,
    blockTemplate: wording.block,
    patternLists,
    certain: certain?.finder,
    // in shadow mode all goes as received
    volatileFields: mode === 'on' ? volatileFields : 'keep',
    unmapped: {
      inAnswer: merged.citations !== false && asksForData(prompt.members),
      inCalls: Array.isArray(tools) && tools.length > 0,
    },
  })
}

function reuse(
  prompt: PromptBody,
  set: PromptSet,
  placed: PlacedContext | undefined,
  input: DecisionInput,
  state: DecisionState,
  started: number,
): Omit<Decision, 'options'> {
  const { tenant, wording, mustPay, mode, options, received, laidOut: before } = input
  const layout = before?.layout ?? toEnd(layOutSet(prompt, set, placed, input, state.store))
  const laidOut = state.now()
  const plan = { tenant, options, wording, mustPay, budget: toBudget(input, layout, state.now) }
  const isShadow = mode === 'shadow'
  const routes = planRoutes(layout, state, plan, isShadow)
  const candidate = state.select(routes.sent)
  const route = routes.sent[candidate]!
  const planned = routes.planned[candidate]!
  const { contexts, reused } = route
  const splices = [...explicitSplices(prompt), ...spliceTexts(prompt, { texts: layout.texts, splices: reused.splices })]
  const isUnchanged = splices.length === 0 && received.tidied.length === 0
  const counts = countBlocks(contexts)
  return {
    splices: isUnchanged ? undefined : splices,
    candidate,
    contexts: planned.contexts,
    sent: reused.prompts.map(({ sent }) => sent),
    exactLengths: route.exactLengths,
    turns: reused.turns,
    worlds: new TwoWorlds(isShadow, {
      texts: layout.texts,
      prompts: layout.prompts.map(({ messages }) => messages.flatMap(({ message }) => message.texts)),
      splices: planned.reused.splices,
      planned: planned.reused.prompts.map(({ sent: own }) => own),
      turns: planned.reused.turns,
      areEqual: isShadow ? planned.reused.splices.every((own) => own.length === 0) : isUnchanged,
      other: () =>
        isShadow
          ? [
              ...explicitSplices(prompt),
              ...spliceTexts(prompt, { texts: layout.texts, splices: planned.reused.splices }),
            ]
          : withExplicitBlocks(prompt, placed),
    }),
    promptTokens: route.promptTokens,
    predictedCachedTokens: route.predictedCachedTokens,
    predictedReusedTokens: route.predictedReusedTokens,
    mostPredictedCachedTokens: Math.max(...routes.sent.map(({ predictedCachedTokens }) => predictedCachedTokens)),
    citations: options.citations === false ? [] : citationMapOf(layout.texts, contexts),
    // a document that is missing is told of, whatever was done with the others
    skipped:
      layout.unresolved ??
      (plan.budget?.isSpent ? tooLarge : undefined) ??
      (isUnchanged ? reasonFor(input, layout, route) : undefined),
    refusals: layout.refusals,
    fault: undefined,
    ...counts,
    timing: { parse: laidOut - started + (before?.milliseconds ?? 0), index: state.now() - laidOut },
  }
}

function selectByLoad({ candidates, select }: DecisionState): number {
  return select(candidates.map(() => ({ promptTokens: 0, predictedCachedTokens: 0, contexts: [] })))
}

function reasonFor(
  { mode, options }: DecisionInput,
  { isUnsure, refusals }: Layout,
  { contexts, isReuseEnough }: PlannedRoute,
): string {
  if (refusals.some(({ refused }) => refused === 'too_many')) return 'too_many_blocks'
  if (contexts.every(({ order }) => order.length === 0)) return isUnsure ? 'unsure_borders' : 'no_blocks'
  if (mode === 'shadow') return 'shadow'
  if (options.reorder === false) return 'reorder_off'
  if (isReuseEnough) return 'reuse_is_enough'
  return contexts.some(({ found }) => found.isSpokenOf) ? 'spoken_of' : 'nothing_to_gain'
}

/** None, when the body that was read is no longer the one received, although nothing of its prompt is rewritten. */
function tidied({ tidied }: Received): readonly BodySplice[] | undefined {
  return tidied.length > 0 ? [] : undefined
}

/** Blocks that were found, that are not sent in the place they were received in, and that are pointed to. */
function countBlocks(contexts: readonly ReusedContext[]): { blocks: number; moved: number; deduplicated: number } {
  const counts = { blocks: 0, moved: 0, deduplicated: 0 }
  for (const { order, pointers } of contexts) {
    counts.blocks += order.length
    counts.moved += order.filter((from, place) => from !== place).length
    counts.deduplicated += new Set(pointers.map((pointer) => pointer.place)).size
  }
  return counts
}

function place({ explicit }: PromptBody, set: PromptSet, { block }: Wording): PlacedContext | undefined {
  return explicit?.blocks && placeExplicitContext(set, explicit.blocks, block)
}

/** Splices that put explicit blocks in rank order into their place; undefined when there are none. */
function withExplicitBlocks(prompt: PromptBody, placed: PlacedContext | undefined): readonly BodySplice[] | undefined {
  if (!prompt.explicit) return undefined
  const texts = prompt.set!.texts.map(({ text }, i) => (i === placed?.at ? placed.text : text))
  return [...explicitSplices(prompt), ...spliceTexts(prompt, { texts, splices: texts.map(() => []) })]
}
