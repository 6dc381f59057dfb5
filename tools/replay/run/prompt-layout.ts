import { ConfigError } from '#proxy/common/errors.ts'
import { isAsReceived, type ReplayRequest } from '../replay-request.ts'
import type { TraceBlock } from '../trace/trace-block.ts'
import { BlockParts, type Part } from './block-parts.ts'

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
  readonly #parts = new BlockParts()
  readonly #bases = new Map<string, number>()
  readonly #questionBases: number[]
  #nextId: number

  constructor(requests: readonly ReplayRequest[], frame: PromptFrame) {
    this.#frame = frame
    this.#nextId = frame.systemTokens
    this.#questionBases = requests.map((request) => {
      for (const part of piecesOf(request).flatMap(this.#partsOf)) this.#baseOf(part)
      const length = this.lengthOf(request)
      if (length > mostPromptTokens) {
        const name = JSON.stringify(request.trace.queryId)
        throw new ConfigError(`the prompt of request ${name} has ${length} tokens, more than any engine takes`)
      }
      return isFramed(request) ? this.#allot(frame.questionTokens) : 0
    })
  }

  /** Returns the length of a request's prompt in tokens: with its blocks as received, or in this order. */
  lengthOf(request: ReplayRequest, order?: readonly number[]): number {
    const { tokens } = orderWordsOf(request, order ?? [])
    return this.#frontOf(request) + this.#restOf(request) + this.#sumOf(listOf(request, order).flat()) + tokens
  }

  /** Returns the tokens of the prompt with the blocks in this order. */
  tokensOf(request: ReplayRequest, order: readonly number[]): Uint32Array {
    const { systemTokens, questionTokens } = this.#frame
    const tokens = new Uint32Array(this.lengthOf(request, order))
    let end = 0
    const add = (base: number, count: number): void => {
      for (let i = 0; i < count; i++) tokens[end++] = base + i
    }
    const addPieces = (pieces: readonly TraceBlock[]): void => {
      for (const part of pieces.flatMap(this.#partsOf)) add(this.#baseOf(part), part.tokens)
    }
    const { around } = request.trace
    if (isFramed(request)) add(0, systemTokens)
    addPieces([...(around?.front ?? []), ...listOf(request, order).flat()])
    const words = orderWordsOf(request, order)
    if (words.tokens > 0) add(this.#baseOf(words), words.tokens)
    addPieces(around?.rest ?? [])
    if (isFramed(request)) add(this.#questionBases[request.number]!, questionTokens)
    return tokens
  }

  /** Returns how many blocks, in this order, are entirely within the prompt's first `tokens` tokens. */
  blocksWithin(request: ReplayRequest, order: readonly number[], tokens: number): number {
    let end = this.#frontOf(request)
    let blocks = 0
    for (const pieces of listOf(request, order)) {
      end += this.#sumOf(pieces)
      if (end > tokens) break
      blocks += 1
    }
    return blocks
  }

  readonly #partsOf = (block: TraceBlock): readonly Part[] => this.#parts.of(block).parts

  #sumOf(blocks: readonly TraceBlock[]): number {
    return blocks.reduce((sum, block) => sum + this.#parts.of(block).tokens, 0)
  }

  #frontOf({ trace: { around } }: ReplayRequest): number {
    return around ? this.#sumOf(around.front) : this.#frame.systemTokens
  }

  #restOf({ trace: { around } }: ReplayRequest): number {
    return around ? this.#sumOf(around.rest) : this.#frame.questionTokens
  }

  #baseOf({ key, tokens }: Part): number {
    const base = this.#bases.get(key) ?? this.#allot(tokens)
    this.#bases.set(key, base)
    return base
  }

  #allot(tokens: number): number {
    const base = this.#nextId
    this.#nextId += tokens
    if (this.#nextId <= tokenIds) return base
    throw new ConfigError('the trace has more than 2^32 different tokens; replay a part of it with --limit')
  }
}

/** Returns the blocks of a prompt, and the pieces around them if the trace has them. */
function piecesOf(request: ReplayRequest): TraceBlock[] {
  const { around } = request.trace
  return [...listOf(request).flat(), ...(around?.front ?? []), ...(around?.rest ?? [])]
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

/** Returns whether the prompt gets a system prompt and a question, whose texts are unknown. */
function isFramed({ trace: { around } }: ReplayRequest): boolean {
  return !around
}

/**
 * Returns the upper bound for any order: the prompt tokens in blocks, or in the system prompt, that an earlier request
 * of the tenant had at any position. No prefix cache can share more, and one of whole pages shares slightly less.
 */
export function countSeenBefore(requests: readonly ReplayRequest[], { systemTokens }: PromptFrame): number {
  const divided = new BlockParts()
  const seenBy = new Map<string, Set<string>>()
  let tokens = 0
  for (const request of requests) {
    const seen = seenBy.get(request.tenant)
    const parts = piecesOf(request).flatMap((block) => divided.of(block).parts)
    if (seen && isFramed(request)) tokens += systemTokens
    if (seen) tokens += parts.reduce((sum, part) => sum + (seen.has(part.key) ? part.tokens : 0), 0)
    const known = seen ?? new Set()
    for (const { key } of parts) known.add(key)
    seenBy.set(request.tenant, known)
  }
  return tokens
}
