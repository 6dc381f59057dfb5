import type { SentPrompt } from '#index/cache-event.ts'
import type { CacheMirror } from '#index/cache-mirror.ts'
import type { ConversationStore, SentTurn, TurnKey } from '#index/conversation-store.ts'
import { asksForData } from './answer/asks-for-data.ts'
import type { CitationMap } from './answer/citation-labels.ts'
import { citationMapOf } from './prompt/citation-map.ts'
import type { PatternLists } from './prompt/find-contexts.ts'
import { type Layout, layOutPrompts } from './prompt/lay-out-prompt.ts'
import { type PlacedContext, placeExplicitContext } from './prompt/place-explicit-context.ts'
import { explicitSplices, type PromptBody, type PromptSet } from './prompt/prompt-body.ts'
import type { BodySplice } from './prompt/splice-body.ts'
import { spliceTexts } from './prompt/splice-texts.ts'
import type { Received } from './read-received.ts'
import type { RequestOptions } from './request-options.ts'
import { type ReusedBody, type ReusedContext, reusePrompts } from './reuse-prompt.ts'
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
  readonly turns: ReadonlyMap<TurnKey, SentTurn>
  /** as estimated before the engine has counted */
  readonly promptTokens: number
  readonly predictedCachedTokens: number
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
  /** a fault of ours, if that is why */
  readonly fault: unknown
  /** milliseconds */
  readonly timing: { readonly parse: number; readonly index: number }
}

/** What of a replica is decided by. */
export interface Candidate {
  readonly mirror: CacheMirror
  /** undefined: it has not said how it caches */
  readonly cacheConfig?: { readonly pageTokens: number } | undefined
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
  readonly patternLists?: PatternLists | undefined
  /** what `layOut` made of it, if that was done before */
  readonly laidOut?: LaidOut | undefined
}

/** The prompts of a request laid out, and what that took. */
export interface LaidOut {
  readonly layout: Layout
  readonly milliseconds: number
}

/** A way to send a request: to one replica, in the order that it holds. */
export interface Route {
  readonly promptTokens: number
  readonly predictedCachedTokens: number
  readonly contexts: readonly ReusedContext[]
}

export interface DecisionState {
  /** the replicas that may be chosen: one at least */
  readonly candidates: readonly Candidate[]
  readonly store: ConversationStore
  /** chooses among the candidates, whose routes these are */
  select(routes: readonly Route[]): number
  /** milliseconds */
  now(): number
}

const untouched = {
  contexts: [],
  sent: [],
  turns: new Map<TurnKey, SentTurn>(),
  promptTokens: 0,
  predictedCachedTokens: 0,
  mostPredictedCachedTokens: 0,
  blocks: 0,
  moved: 0,
  deduplicated: 0,
  citations: [],
  timing: { parse: 0, index: 0 },
}

/**
 * Decides how a request is sent, and to which replica, and changes nothing. The one place that fails open: a fault of
 * ours leaves the request as received. Throws `invalid_body` for what the client must mend.
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
  if (!prompt?.set) return leave(skipped, tidied(input.received), prompt?.fault)
  const placed = place(prompt, prompt.set, input.wording)
  if (input.mode === 'off') return leave('mode_off', withExplicitBlocks(prompt, placed))
  try {
    return { options, ...reuse(prompt, prompt.set, placed, { ...input, options }, state, started) }
  } catch (fault) {
    return leave('internal_error', withExplicitBlocks(prompt, placed), fault)
  }
}

/** Lays out the prompts of a request with the turns that are known; undefined when they are to be left alone. */
export function layOut(
  input: DecisionInput,
  { store, now }: Pick<DecisionState, 'store' | 'now'>,
): LaidOut | undefined {
  const { prompt } = input.received
  if (!prompt?.set || input.mode === 'off') return undefined
  const started = now()
  const layout = layOutSet(prompt, prompt.set, place(prompt, prompt.set, input.wording), input, store)
  return { layout, milliseconds: now() - started }
}

function layOutSet(
  prompt: PromptBody,
  set: PromptSet,
  placed: PlacedContext | undefined,
  { tenant, conversation, options, wording, patternLists }: DecisionInput,
  store: ConversationStore,
): Layout {
  const merged = { ...options, ...prompt.explicit?.options }
  const { tools } = prompt.members
  return layOutPrompts(set, placed, {
    tenant,
    conversation: prompt.explicit?.conversation ?? conversation,
    options: merged,
    store,
    blockTemplate: wording.block,
    patternLists,
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
  const { tenant, wording, mode, options, received, laidOut: before } = input
  const layout = before?.layout ?? layOutSet(prompt, set, placed, input, state.store)
  const laidOut = state.now()
  const routes = state.candidates.map((candidate) => {
    const reused = reusePrompts(layout, { mirror: candidate.mirror, tenant, options, wording })
    return { reused, ...describeRoute(reused, candidate) }
  })
  const candidate = state.select(routes)
  const chosen = state.candidates[candidate]!
  const route = mode === 'shadow' ? asReceived(layout, input, chosen) : routes[candidate]!
  const { contexts, reused } = route
  const splices = [...explicitSplices(prompt), ...spliceTexts(prompt, { texts: layout.texts, splices: reused.splices })]
  const isUnchanged = splices.length === 0 && received.tidied.length === 0
  const counts = countBlocks(contexts)
  return {
    splices: isUnchanged ? undefined : splices,
    candidate,
    contexts: routes[candidate]!.contexts,
    sent: reused.prompts.map(({ sent }) => sent),
    turns: reused.turns,
    promptTokens: route.promptTokens,
    predictedCachedTokens: route.predictedCachedTokens,
    mostPredictedCachedTokens: Math.max(...routes.map(({ predictedCachedTokens }) => predictedCachedTokens)),
    citations: options.citations === false ? [] : citationMapOf(layout.texts, contexts),
    // a document that is missing is told of, whatever was done with the others
    skipped: layout.unresolved ?? (isUnchanged ? reasonFor(input, layout, contexts) : undefined),
    fault: undefined,
    ...counts,
    timing: { parse: laidOut - started + (before?.milliseconds ?? 0), index: state.now() - laidOut },
  }
}

function describeRoute({ prompts }: ReusedBody, { mirror, cacheConfig }: Candidate): Route {
  const inPages = (tokens: number): number => tokens - (tokens % (cacheConfig?.pageTokens ?? 1))
  return {
    promptTokens: prompts.reduce((sum, { sent }) => sum + mirror.estimatePromptTokens(sent), 0),
    predictedCachedTokens: prompts.reduce((sum, { sent }) => sum + inPages(mirror.predictCachedTokens(sent)), 0),
    contexts: prompts.flatMap(({ contexts }) => contexts),
  }
}

/** What shadow mode sends: nothing moved, nothing left out. */
function asReceived(
  layout: Layout,
  { tenant, wording }: DecisionInput,
  candidate: Candidate,
): Route & { reused: ReusedBody } {
  const options = { reorder: false, dedup: false }
  const reused = reusePrompts(layout, { mirror: candidate.mirror, tenant, wording, options })
  return { reused, ...describeRoute(reused, candidate) }
}

function selectByLoad({ candidates, select }: DecisionState): number {
  return select(candidates.map(() => ({ promptTokens: 0, predictedCachedTokens: 0, contexts: [] })))
}

function reasonFor({ mode, options }: DecisionInput, { isUnsure }: Layout, contexts: readonly ReusedContext[]): string {
  if (contexts.every(({ order }) => order.length === 0)) return isUnsure ? 'unsure_borders' : 'no_blocks'
  if (mode === 'shadow') return 'shadow'
  if (options.reorder === false) return 'reorder_off'
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
