import type { SentPrompt } from '#index/cache-event.ts'
import type { ScopeId } from '#index/context-block.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { type BorderPlace, chooseBorders } from '#index/ordering/choose-borders.ts'
import type { CheckpointReport } from '../../replicas/reports/checkpoint-report.ts'
import type { Decision } from '../../reuse/decision.ts'
import type { ReusedContext } from '../../reuse/reused-prompt.ts'

/** The plugin takes no more. */
const mostBorders = 4
/** Simulated on two traces with a full cache: one border is best if it takes the room of 6,144 tokens, four if 3,168. */
const largeRoomTokens = 4_096
/**
 * Demand for blocks of which nothing is known: as if so many requests had the first one, and each further block in the
 * same share of them. Measured on two traces.
 */
const priorDemand = 0.3
const priorShare = 0.55

/** A place of a prompt at which a checkpoint should be kept. */
export interface Border {
  /** the prefix that ends there */
  readonly prefix: ScopeId
  /** estimated */
  readonly tokens: number
  /** index of the context among the decision's */
  readonly context: number
  /** place of the block that ends there; −1: the text before the context ends */
  readonly place: number
}

export interface ChosenBorders {
  readonly borders: readonly Border[]
  /** the last one at which the engine keeps a checkpoint already, as far as is known */
  readonly held: Border | undefined
}

type Decided = Pick<Decision, 'sent' | 'contexts' | 'worlds'>
const none: ChosenBorders = { borders: [], held: undefined }

/**
 * Chooses the borders of a request's prompt at which prompts like it will part: where the text before a context ends,
 * and where its blocks do, behind the last one that is kept already. None in shadow mode, where the prompt sent is not
 * the one planned, nor for several prompts.
 */
export function findBorders(
  { sent, contexts, worlds }: Decided,
  mirror: Pick<CacheMirror, 'demandOf' | 'estimateTokens' | 'predictCachedLength'>,
  { unit, room_tokens }: Pick<CheckpointReport, 'unit' | 'room_tokens'>,
  isKept: (prefix: ScopeId) => boolean,
): ChosenBorders {
  const [prompt, ...others] = sent
  if (!prompt || others.length > 0 || !worlds || worlds.isShadow) return none
  const places = contexts.flatMap((context, i) => placesOf(prompt, context, i, mirror))
  const cached = mirror.estimateTokens(mirror.predictCachedLength(prompt))
  const last = places.findLastIndex(({ prefix, tokens }) => tokens <= cached && isKept(prefix))
  const ahead = places.slice(last + 1)
  const most = room_tokens > largeRoomTokens ? 1 : mostBorders
  const chosen = chooseBorders(ahead, most, unit, places[last]?.tokens)
  return { borders: chosen.map((at) => ahead[at]!), held: places[last] }
}

/** Returns the places of one context at which prompts may part. */
function placesOf(
  prompt: SentPrompt,
  { scope, ends, found }: ReusedContext,
  context: number,
  mirror: Pick<CacheMirror, 'demandOf' | 'estimateTokens'>,
): (Border & BorderPlace)[] {
  const start = prompt.prefixes.indexOf(scope)
  const blocks = prompt.contexts.find((sent) => sent.scope === scope)?.blocks
  if (found.isResult || start < 0 || !blocks) return []
  const demands = mirror.demandOf(scope, blocks).map((demand, i) => demand + priorDemand * priorShare ** i)
  // more share the text before a context than any of its blocks
  return [1 + (demands[0] ?? 0), ...demands].map((demand, i) => {
    const end = i === 0 ? prompt.ends[start]! : ends[i - 1]!
    const at = i === 0 ? start : prompt.ends.indexOf(end, start)
    const tokens = mirror.estimateTokens(end)
    return { prefix: prompt.prefixes[at]!, tokens, context, place: i - 1, end: tokens, demand }
  })
}
