import { getOrMake } from '#index/get-or-make.ts'
import { ConfigError } from '#proxy/common/errors.ts'
import { isAsReceived, type ReplayRequest } from '../replay-request.ts'
import type { TraceBlock } from '../trace/trace.ts'

/** Lengths of the parts around the blocks of a prompt. */
export interface PromptFrame {
  readonly systemTokens: number
  readonly questionTokens: number
}

const tokenIds = 2 ** 32
/** Prompts are laid out token by token, so the largest takes 256 MB. */
const mostPromptTokens = 2 ** 26

/**
 * The prompts of a trace as made-up token ids. The system prompt, every part of a block and every question have their
 * own ranges of ids, so ids are equal exactly if the texts are.
 * If a trace specifies the text around the blocks, that is used instead of the system prompt and question.
 */
export class PromptLayout {
  readonly #frame: PromptFrame
  readonly #divided = new BlockParts()
  readonly #bases = new Map<string, number>()
  #nextId = 0

  constructor(requests: readonly ReplayRequest[], frame: PromptFrame) {
    this.#frame = frame
    for (const request of requests) {
      const length = this.lengthOf(request)
      if (length <= mostPromptTokens) continue
      const name = JSON.stringify(request.trace.queryId)
      throw new ConfigError(`the prompt of request ${name} has ${length} tokens, more than any engine takes`)
    }
  }

  /** Returns the parts of a prompt with its blocks as received, or in this order. */
  partsOf(request: ReplayRequest, order?: readonly number[]): Part[] {
    const { front, places, rest } = this.#layOut(request, order)
    return [...front, ...places.flat(), ...rest]
  }

  /** Returns the length of a request's prompt in tokens: with its blocks as received, or in this order. */
  lengthOf(request: ReplayRequest, order?: readonly number[]): number {
    return sumOf(this.partsOf(request, order))
  }

  /** Returns the tokens of the prompt with the blocks in this order. */
  tokensOf(request: ReplayRequest, order: readonly number[]): Uint32Array {
    const parts = this.partsOf(request, order)
    const tokens = new Uint32Array(sumOf(parts))
    let end = 0
    for (const part of parts) {
      const base = this.#baseOf(part)
      for (let i = 0; i < part.tokens; i++) tokens[end++] = base + i
    }
    return tokens
  }

  /** Returns how many blocks, in this order, are entirely within the prompt's first `tokens` tokens. */
  blocksWithin(request: ReplayRequest, order: readonly number[], tokens: number): number {
    const { front, places } = this.#layOut(request, order)
    let end = sumOf(front)
    const beyond = places.findIndex((parts) => {
      end += sumOf(parts)
      return end > tokens
    })
    return beyond === -1 ? places.length : beyond
  }

  /** Returns a prompt in parts: in front of its list, at each place of the list, and behind it. */
  #layOut(request: ReplayRequest, order?: readonly number[]): Record<'front' | 'rest', Part[]> & { places: Part[][] } {
    const { systemTokens, questionTokens } = this.#frame
    const { around } = request.trace
    const divide = (blocks: readonly TraceBlock[]): Part[] => blocks.flatMap((block) => this.#divided.of(block))
    const words = orderWordsOf(request, order ?? [])
    return {
      // no block has these keys, because their keys are JSON
      front: around ? divide(around.front) : [{ key: 'system', tokens: systemTokens }],
      places: listOf(request, order).map(divide),
      rest: [
        words,
        ...(around ? divide(around.rest) : [{ key: `question ${request.number}`, tokens: questionTokens }]),
      ],
    }
  }

  #baseOf({ key, tokens }: Part): number {
    const known = this.#bases.get(key)
    if (known !== undefined) return known
    const base = this.#nextId
    this.#nextId += tokens
    this.#bases.set(key, base)
    if (this.#nextId <= tokenIds) return base
    throw new ConfigError('the trace has more than 2^32 different tokens; replay a part of it with --limit')
  }
}

/**
 * Returns the upper bound for any order: the prompt tokens in blocks, or in the system prompt, that an earlier request
 * of the tenant had at any position. No prefix cache can share more, and one of whole pages shares slightly less.
 */
export function countSeenBefore(requests: readonly ReplayRequest[], frame: PromptFrame): number {
  const layout = new PromptLayout(requests, frame)
  const seenBy = new Map<string, Set<string>>()
  let tokens = 0
  for (const request of requests) {
    const seen = getOrMake(seenBy, request.tenant, () => new Set<string>())
    const parts = layout.partsOf(request)
    tokens += sumOf(parts.filter(({ key }) => seen.has(key)))
    for (const { key } of parts) seen.add(key)
  }
  return tokens
}

function sumOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { tokens }) => sum + tokens, 0)
}

/** Returns the pieces at each place when the blocks are in this order; by default as received. */
function listOf(
  { trace: { blocks, list } }: ReplayRequest,
  order: readonly number[] = [...blocks.keys()],
): TraceBlock[][] {
  if (!list) return order.map((from) => [blocks[from]!])
  const shortened = isAsReceived(order) ? [] : list.shortened
  return order.map((from, place) => [
    ...(shortened[from] ?? list.blocks[from]!).map((piece) => piece ?? list.labels[place]!),
    ...(list.gaps[place] ?? []),
  ])
}

/** Returns the order annotation, if the order differs from the one received. */
function orderWordsOf({ trace: { list } }: ReplayRequest, order: readonly number[]): Part {
  const tokens = isAsReceived(order) ? 0 : (list?.orderTokens ?? 0)
  return { key: `order of ${tokens} tokens: ${order.join()}`, tokens }
}

/** A part of a block that is the same wherever its key is. */
interface Part {
  readonly key: string
  readonly tokens: number
}

/**
 * Divides the blocks of a trace into their stretches. A stretch has as many tokens everywhere as at its first place, so
 * that blocks that begin alike share tokens; a block's sum may thus differ slightly from its own count.
 */
export class BlockParts {
  readonly #sizes = new Map<string, number>()
  readonly #known = new Map<string, readonly Part[]>()

  /** Returns the parts of a block; one, if its stretches are not known. */
  of(block: TraceBlock): readonly Part[] {
    return getOrMake(this.#known, block.key, () => this.#divide(block))
  }

  #divide({ key, tokens, stretches }: TraceBlock): Part[] {
    if (!stretches) return [{ key, tokens }]
    const characters = stretches.reduce((sum, stretch) => sum + stretch.characters, 0)
    let [end, before] = [0, 0]
    return stretches.map((stretch) => {
      before += stretch.characters
      const start = end
      end = Math.round((tokens * before) / characters)
      // no block has this key, because their keys are JSON
      const own = `stretch ${stretch.key}`
      const size = this.#sizes.get(own) ?? end - start
      this.#sizes.set(own, size)
      return { key: own, tokens: size }
    })
  }
}
