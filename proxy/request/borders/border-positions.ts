import { LRUCache } from 'lru-cache'
import { askEngine } from '#engine-adapters/ask-engine.ts'
import type { EngineRequest } from '#engine-adapters/engine-client.ts'
import { tryObject } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { SentPrompt } from '#index/cache-event.ts'
import type { ScopeId } from '#index/context-block.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { type BorderPlace, chooseBorders } from '#index/ordering/choose-borders.ts'
import { credentialsOf } from '../../access/engine-credentials.ts'
import type { Replica } from '../../replicas/replica.ts'
import type { CheckpointReport } from '../../replicas/reports/callback-bodies.ts'
import type { Decision } from '../../reuse/decision.ts'
import type { ReusedContext } from '../../reuse/reused-prompt.ts'
import { locateBlocks } from './locate-borders.ts'

// by size, so that room is made as it is needed: most engines keep no checkpoints
const rememberedPrefixes = { maxSize: 50_000, sizeCalculation: () => 1 }
/** About the time in which an engine tokenises 50,000 tokens. */
const timeoutMilliseconds = 250
/** Where the engine does not say it in time, estimates are lowered: too high loses the hit, too low a unit of it. */
const safeShare = 0.85

type ChosenReplica = Pick<Replica, 'checkpoints' | 'mirror'>

/** The engine that a request goes to. */
type AskedReplica = Pick<Replica, 'engine' | 'adapter' | 'checkpoints'>

/** At how many tokens the borders of prompts lie. */
export class BorderPositions {
  /** by engine process and prefix */
  readonly #known = new LRUCache<string, number>(rememberedPrefixes)
  /** the prefixes at whose ends checkpoints were asked for */
  readonly #kept = new LRUCache<string, true>(rememberedPrefixes)

  /** Chooses the borders of a request that goes to an engine; undefined if it keeps no checkpoints. */
  choose({ checkpoints, mirror }: ChosenReplica, decision: Decision): ChosenBorders | undefined {
    return (
      checkpoints && findBorders(decision, mirror, checkpoints, (prefix) => this.#kept.has(checkpoints.key + prefix))
    )
  }

  /** Notes how much of a request the engine has found: less than up to `held` means that this is kept no more. */
  found({ checkpoints }: ChosenReplica, held: Border | undefined, cachedTokens: number | undefined): void {
    if (!held || !checkpoints || cachedTokens === undefined) return
    const key = checkpoints.key + held.prefix
    const position = this.#known.get(key) ?? held.tokens * safeShare
    if (cachedTokens < position - (position % checkpoints.unit)) this.#kept.delete(key)
  }

  /**
   * Returns where to keep checkpoints, in tokens: multiples of the engine's unit, ascending. Asks the engine to tokenise
   * the request, once per prefix; estimates what it does not say in time. Never rejects.
   */
  async find(
    borders: readonly Border[],
    replica: AskedReplica,
    decision: Decision,
    question: Question,
  ): Promise<number[]> {
    const { checkpoints } = replica
    if (!checkpoints) return []
    const { key } = checkpoints
    const keyOf = ({ prefix }: Border): string => key + prefix
    if (borders.some((border) => !this.#known.has(keyOf(border)))) {
      const located = await locate(borders, replica, decision, question)
      for (const [border, tokens] of located) this.#known.set(keyOf(border), tokens)
    }
    for (const border of borders) this.#kept.set(keyOf(border), true)
    return this.#inUnits(borders, checkpoints)
  }

  /** Estimates what `find` returns for a request, without asking the engine; undefined if it keeps no checkpoints. */
  estimate(replica: ChosenReplica, decision: Decision): number[] | undefined {
    const chosen = this.choose(replica, decision)
    return chosen && this.#inUnits(chosen.borders, replica.checkpoints!)
  }

  #inUnits(borders: readonly Border[], { unit, key }: CheckpointReport): number[] {
    const positions = borders.map(({ prefix, tokens }) => this.#known.get(key + prefix) ?? tokens * safeShare)
    const units = new Set(positions.map((tokens) => Math.floor(tokens / unit)).filter((count) => count > 0))
    return [...units].sort((a, b) => a - b).map((count) => count * unit)
  }
}

/** Asks the engine for the positions of borders; those that are not found are missing. */
async function locate(
  borders: readonly Border[],
  replica: AskedReplica,
  { contexts, worlds }: Decision,
  question: Question,
): Promise<Map<Border, number>> {
  // released when the head of the answer arrives
  const texts = worlds?.texts ?? []
  const tokens = await askForStrings(replica, question)
  const located = new Map<Border, number>()
  for (const [at, context] of tokens ? contexts.entries() : []) {
    const own = borders.filter((border) => border.context === at)
    if (own.length === 0) continue
    const { start, ends } = locateBlocks(tokens!, context, texts)
    for (const border of own) {
      const position = border.place < 0 ? start : ends[border.place]
      if (position !== undefined) located.set(border, position)
    }
  }
  return located
}

async function askForStrings(
  { engine, adapter }: AskedReplica,
  { api, request: { body, headers } }: Question,
): Promise<readonly string[] | undefined> {
  const members = Buffer.isBuffer(body) ? tryObject(body.toString()) : undefined
  const asked = members ? adapter.tokenStrings(api, members) : undefined
  if (!asked) return undefined
  const question = { path: asked.path, json: JSON.stringify(asked.body), headers: credentialsOf(headers) }
  const answer = await askEngine(engine, question, AbortSignal.timeout(timeoutMilliseconds))
  return answer?.status === 200 ? readStrings(answer.text) : undefined
}

interface Question {
  readonly api: PromptApi
  /** as it goes to the engine */
  readonly request: EngineRequest
}

function readStrings(text: string): readonly string[] | undefined {
  const strings = tryObject(text)?.token_strs
  return Array.isArray(strings) && strings.every((one) => typeof one === 'string') ? strings : undefined
}

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
