import { ReplayError } from '../replay-error.ts'
import type { ReplayRequest } from '../replay-request.ts'
import type { TraceBlock } from '../trace/trace-block.ts'
import { BlockParts, type Part } from './block-parts.ts'

/** Lengths of what is around the blocks of a prompt. */
export interface PromptFrame {
  readonly systemTokens: number
  readonly questionTokens: number
  /** length of the answer, which no later prompt repeats */
  readonly answerTokens?: number
}

const tokenIds = 2 ** 32
/** Prompts are laid out token by token, so the largest takes 256 MB. */
const mostPromptTokens = 2 ** 26

/**
 * The prompts of a trace as made-up token ids. The system prompt, every part of a block and every question have their own
 * ranges of ids, so that ids are equal exactly if the texts are. Prompts with a fixed order consist of their blocks only. If a
 * trace specifies the text around the blocks, that is used instead of the system prompt and question.
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
      for (const { key, tokens } of piecesOf(request).flatMap(this.#partsOf)) {
        if (!this.#bases.has(key)) this.#bases.set(key, this.#allot(tokens))
      }
      const length = this.lengthOf(request)
      if (length > mostPromptTokens) {
        const name = JSON.stringify(request.trace.queryId)
        throw new ReplayError(`the prompt of request ${name} has ${length} tokens, more than any engine takes`)
      }
      return isFramed(request) ? this.#allot(frame.questionTokens + (frame.answerTokens ?? 0)) : 0
    })
  }

  /** Returns the length of a request's prompt in tokens, which does not depend on the order of its blocks. */
  lengthOf(request: ReplayRequest): number {
    return this.#frontOf(request) + this.#restOf(request) + this.#sumOf(request.trace.blocks)
  }

  /** Returns the tokens of the prompt with the blocks in this order, followed by its answer. */
  tokensOf(request: ReplayRequest, order: readonly number[]): Uint32Array {
    const { systemTokens, questionTokens, answerTokens = 0 } = this.#frame
    const behind = isFramed(request) ? answerTokens : 0
    const tokens = new Uint32Array(this.lengthOf(request) + behind)
    let end = 0
    const add = (base: number, count: number): void => {
      for (let i = 0; i < count; i++) tokens[end++] = base + i
    }
    const { around, blocks } = request.trace
    if (isFramed(request)) add(0, systemTokens)
    const pieces = [...(around?.front ?? []), ...order.map((place) => blocks[place]!), ...(around?.rest ?? [])]
    for (const { key, tokens: size } of pieces.flatMap(this.#partsOf)) add(this.#bases.get(key)!, size)
    if (isFramed(request)) add(this.#questionBases[request.number]!, questionTokens + behind)
    return tokens
  }

  /** Returns how many blocks, in this order, are entirely within the prompt's first `tokens` tokens. */
  blocksWithin(request: ReplayRequest, order: readonly number[], tokens: number): number {
    let end = this.#frontOf(request)
    let blocks = 0
    for (const place of order) {
      end += this.#parts.of(request.trace.blocks[place]!).tokens
      if (end > tokens) break
      blocks += 1
    }
    return blocks
  }

  readonly #partsOf = (block: TraceBlock): readonly Part[] => this.#parts.of(block).parts

  #sumOf(blocks: readonly TraceBlock[]): number {
    return blocks.reduce((sum, block) => sum + this.#parts.of(block).tokens, 0)
  }

  #frontOf({ trace: { around, fixed } }: ReplayRequest): number {
    if (around) return this.#sumOf(around.front)
    return fixed ? 0 : this.#frame.systemTokens
  }

  #restOf({ trace: { around, fixed } }: ReplayRequest): number {
    if (around) return this.#sumOf(around.rest)
    return fixed ? 0 : this.#frame.questionTokens
  }

  #allot(tokens: number): number {
    const base = this.#nextId
    this.#nextId += tokens
    if (this.#nextId <= tokenIds) return base
    throw new ReplayError('the trace has more than 2^32 different tokens; replay a part of it with --limit')
  }
}

/** Returns the blocks of a prompt, and the pieces around them if the trace has them. */
export function piecesOf({ trace: { around, blocks } }: ReplayRequest): TraceBlock[] {
  return [...blocks, ...(around?.front ?? []), ...(around?.rest ?? [])]
}

/** Returns whether the prompt gets a system prompt and a question, of which only the lengths are known. */
export function isFramed({ trace: { around, fixed } }: ReplayRequest): boolean {
  return !fixed && !around
}
