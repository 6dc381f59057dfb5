import { type AnyPositionReuse, recomputedShare } from '#engine-adapters/any-position-reuse.ts'
import type { BlockId } from '#index/context-block.ts'
import type { KnownTurns, SentOrder } from '#index/conversation-store.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import type { ReplicaCandidate } from '#scheduler/select-replica.ts'
import type { PromptMessage } from '../prompt/body/prompt.ts'
import type { LaidOutMessage, Layout } from '../prompt/layout.ts'
import { type ReuseState, reusePrompts } from './reuse-prompt.ts'
import type { ReusedBody, ReusedContext, ReusedPrompt } from './reused-prompt.ts'

/** What the decision depends on in a replica. */
export interface Candidate {
  readonly mirror: CacheMirror
  /** what it would hold if everything planned had been sent */
  readonly planned?: (() => CacheMirror) | undefined
  /** undefined: the engine has not reported how it caches */
  readonly cacheConfig?: { readonly pageTokens: number } | undefined
  /** how it reuses KV at any position; undefined: it does not */
  readonly reuse?: AnyPositionReuse | undefined
  /** whether it has computed a block for the same tenant, salt and model, at whatever position */
  readonly hasProcessed?: ((block: BlockId) => boolean) | undefined
  /** whether it may reuse what it has computed of a block, at whatever position, for the user of the request */
  readonly isReusable?: ((block: BlockId) => boolean) | undefined
}

/** What stands in front of documents that were computed behind another text. */
export interface DifferingMessage {
  /** index of the prompt */
  readonly prompt: number
  /** index of the message in the prompt */
  readonly place: number
  readonly message: PromptMessage | undefined
  /** the documents are what a tool returned */
  readonly areResults: boolean
}

/** A way to send a request: to one replica, in the order that this replica holds. */
export interface Route
  extends Pick<ReplicaCandidate, 'promptTokens' | 'predictedCachedTokens' | 'predictedReusedTokens'> {
  readonly contexts: readonly ReusedContext[]
}

/** A route with the prompts to send there. */
export interface PlannedRoute extends Route {
  readonly reused: ReusedBody
  /** by prompt: how many of its characters will be in the exact cache; undefined: all of them */
  readonly exactLengths: readonly (number | undefined)[]
  /** blocks stay only because the engine reuses enough at any position */
  readonly isReuseEnough: boolean
}

/** For whom prompts are planned, and how. */
type PlanState = Omit<ReuseState, 'mirror'>

interface RoutesWay {
  readonly isShadow: boolean
  /** the engine refused the rewritten prompt */
  readonly isRefused: boolean
  /** in shadow mode: how turns would have been sent */
  readonly plannedTurns: KnownTurns | undefined
}

/** The prompts planned for each replica; both lists cover as many candidates as there was time for. */
interface PlannedRoutes {
  /** as planned */
  readonly planned: readonly PlannedRoute[]
  /** as sent: what is not done does not count in predictions, here or on other replicas */
  readonly sent: readonly PlannedRoute[]
}

/**
 * Plans routes to all candidates, or to the first few if time is short. In shadow mode, and if
 * the engine refused the rewritten prompt, everything is sent as received.
 */
export function planRoutes(
  layout: Layout,
  candidates: readonly Candidate[],
  state: PlanState,
  { isShadow, isRefused, plannedTurns }: RoutesWay,
): PlannedRoutes {
  const planFor = (own: Candidate): PlannedRoute => planAsReceived(layout, own, state)
  if (isRefused || !isShadow) {
    const planned = isRefused ? candidates.map(planFor) : planInTime(layout, candidates, state)
    return { planned, sent: planned }
  }
  // plan against what would be held if everything planned had been sent
  const planning = plannedTurns ? withPlannedTurns(layout, plannedTurns) : layout
  const mirrored = candidates.map((own) => ({ ...own, mirror: own.planned?.() ?? own.mirror }))
  const planned = planInTime(planning, mirrored, state)
  return { planned, sent: candidates.slice(0, planned.length).map(planFor) }
}

function planInTime(layout: Layout, candidates: readonly Candidate[], state: PlanState): PlannedRoute[] {
  const routes: PlannedRoute[] = []
  for (const candidate of candidates) {
    if (routes.length > 0 && state.budget?.isSpent) break
    routes.push(planRoute(layout, candidate, state))
  }
  return routes
}

/** Plans a route with nothing moved and nothing left out. */
function planAsReceived(layout: Layout, candidate: Candidate, { tenant, wording, options }: PlanState): PlannedRoute {
  return planRoute(layout, candidate, { tenant, wording, options: { ...options, reorder: false, dedup: false } })
}

/** Returns the layout with past turns as they would have been sent if everything planned had been sent. */
function withPlannedTurns(layout: Layout, turns: KnownTurns): Layout {
  const recall = ({ keys }: LaidOutMessage): readonly SentOrder[] | undefined => {
    const planned = keys.map((key) => turns.recall(key)).find((turn) => turn !== undefined)
    if (planned?.kind === 'ordered') return planned.contexts
    return planned?.kind === 'explicit' ? [planned.context] : undefined
  }
  const prompts = layout.prompts.map((prompt) => ({
    ...prompt,
    messages: prompt.messages.map((message) => ({ ...message, past: recall(message) ?? message.past })),
  }))
  return { ...layout, prompts }
}

/**
 * Plans how the prompts of a body are sent to one replica, and predicts what it will find of them. On an engine that
 * reuses at any position, blocks stay as received if moving them saves less than the annotation costs: of blocks that it
 * may reuse, only the share that it would recompute counts as saved. An order that the request states is kept: later
 * requests gain by it. Changes nothing.
 */
function planRoute(layout: Layout, candidate: Candidate, state: PlanState): PlannedRoute {
  const { tenant, wording, options, budget } = state
  budget?.look()
  const ordered = plan(layout, candidate, state)
  const share = recomputedShare(candidate.reuse, options.reuse)
  const left = { ...ordered, isReuseEnough: false }
  if (share === undefined || options.order || !ordered.contexts.some(isMoved)) return left
  const asReceived = plan(layout, candidate, { tenant, wording, budget, options: { ...options, reorder: false } })
  const isOrderedAnew = ordered.contexts.some(({ order }, i) => {
    const before = asReceived.contexts[i]!.order
    return order.some((from, place) => from !== before[place])
  })
  if (!isOrderedAnew) return left
  const cost = candidate.mirror.estimateTokens(annotationLength(ordered) - annotationLength(asReceived))
  const gained = ordered.predictedCachedTokens - asReceived.predictedCachedTokens
  const isReuseEnough = gained * (1 - (1 - share) * reusableShare(asReceived, ordered)) <= cost
  return { ...(isReuseEnough ? asReceived : ordered), isReuseEnough }
}

/**
 * Finds the message for which a replica cannot reuse, in any order, blocks it has processed: the first one that it has
 * not computed, in front of them. Returns undefined if there is none.
 */
export function findDiffering(
  layout: Pick<Layout, 'prompts'>,
  { reused: { prompts } }: Pick<PlannedRoute, 'reused'>,
  { mirror, hasProcessed }: Candidate,
): DifferingMessage | undefined {
  for (const [prompt, { contexts, sent }] of prompts.entries()) {
    if (!contexts.some(({ found }) => found.contents.some((block) => hasProcessed?.(block)))) continue
    const front = sent.ends.findLast((end) => end < contexts[0]!.ends[0]!)
    const cached = front === undefined ? 0 : mirror.predictCachedLength(sent)
    if (front === undefined || cached >= front) continue
    const messages = layout.prompts[prompt]!.messages.map(({ message }) => message)
    // in front of the documents, a prefix ends only where a message does
    const place = sent.ends.filter((end) => end <= cached).length
    const text = contexts[0]!.found.slots[0]!.text
    const holder = messages.find(({ texts }) => texts.includes(text))
    const areResults = holder?.role === 'tool' || holder?.role === 'function'
    return { prompt, place, message: messages[place], areResults }
  }
  return undefined
}

/** Returns how much of what stands behind the cached prefix only in the first plan the replica may reuse there. */
function reusableShare({ behind }: Planned, { behind: still }: Planned): number {
  const gained = behind.length - still.length
  return gained > 0 ? Math.min(Math.max((behind.reusable - still.reusable) / gained, 0), 1) : 1
}

function isMoved({ order }: ReusedContext): boolean {
  return order.some((from, place) => from !== place)
}

/** In characters. */
function annotationLength({ contexts }: Route): number {
  return contexts.reduce((sum, { annotation }) => sum + (annotation?.length ?? 0), 0)
}

interface Planned extends Omit<PlannedRoute, 'isReuseEnough'> {
  /** of blocks sent in full behind the cached prefix, in characters: all, and what the replica may reuse */
  readonly behind: { readonly length: number; readonly reusable: number }
}

function plan(layout: Layout, candidate: Candidate, state: PlanState): Planned {
  const { mirror, cacheConfig, reuse } = candidate
  const reused = reusePrompts(layout, { mirror, ...state })
  const { prompts } = reused
  const inPages = (tokens: number): number => tokens - (tokens % (cacheConfig?.pageTokens ?? 1))
  const share = recomputedShare(reuse, state.options.reuse) ?? 1
  const behind = prompts.map((prompt) => (share < 1 ? findBehind(prompt, candidate) : []))
  const stretches = behind.map((own) => own.filter(({ isReusable }) => isReusable))
  const reusable = lengthOf(stretches.flat())
  return {
    reused,
    promptTokens: prompts.reduce((sum, { sent }) => sum + mirror.estimatePromptTokens(sent), 0),
    predictedCachedTokens: prompts.reduce((sum, { sent }) => sum + inPages(mirror.predictCachedTokens(sent)), 0),
    predictedReusedTokens: reuse && Math.floor((1 - share) * mirror.estimateTokens(reusable)),
    // nothing after a reused block is exact
    exactLengths: stretches.map((own) => (own.length > 0 ? Math.min(...own.map(({ start }) => start)) : undefined)),
    contexts: prompts.flatMap(({ contexts }) => contexts),
    behind: { length: lengthOf(behind.flat()), reusable },
  }
}

interface Stretch {
  readonly start: number
  readonly end: number
  readonly isReusable: boolean
}

function lengthOf(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, { start, end }) => sum + end - start, 0)
}

/** Finds the blocks in a prompt as sent that are sent in full and come after the cached prefix. */
function findBehind({ contexts, sent }: ReusedPrompt, { mirror, isReusable }: Candidate): Stretch[] {
  const prefix = mirror.predictCachedLength(sent)
  return contexts.flatMap(({ found, order, pointers, ends }) => {
    const cut = new Set(pointers.map(({ place }) => place))
    return order.flatMap((from, place) => {
      const end = ends[place]!
      if (end <= prefix || cut.has(place)) return []
      const { content } = found.slots[from]!
      const start = end - (content.end - content.start)
      return [{ start, end, isReusable: isReusable?.(found.contents[from]!) ?? false }]
    })
  })
}
