import type { BlockId } from '#index/context-block.ts'
import { ReplayError } from './replay-error.ts'
import type { ReplayRequest } from './replay-request.ts'

/** What stands around the blocks of a prompt. */
export interface PromptFrame {
  readonly systemTokens: number
  readonly questionTokens: number
}

const tokenIds = 2 ** 32
/** Prompts are laid out token by token: 256 MB for the largest. */
const mostPromptTokens = 2 ** 26

/**
 * The prompts of a trace as token ids, which are made up: the system prompt, every block and every question have a
 * range of ids of their own, so that texts are equal exactly where their ids are. Prompts whose order is fixed are
 * their blocks and nothing else.
 */
export class PromptLayout {
  readonly #frame: PromptFrame
  readonly #blockBases = new Map<BlockId, number>()
  readonly #questionBases: number[]
  #nextId: number

  constructor(requests: readonly ReplayRequest[], frame: PromptFrame) {
    this.#frame = frame
    this.#nextId = frame.systemTokens
    this.#questionBases = requests.map((request) => {
      for (const [place, block] of request.context.entries()) {
        if (!this.#blockBases.has(block)) this.#blockBases.set(block, this.#allot(request.sizes[place]!))
      }
      const length = this.lengthOf(request)
      if (length > mostPromptTokens) {
        const name = JSON.stringify(request.trace.queryId)
        throw new ReplayError(`the prompt of request ${name} has ${length} tokens, more than any engine takes`)
      }
      return request.fixed ? 0 : this.#allot(frame.questionTokens)
    })
  }

  /** Tokens of a request's prompt, in whichever order its blocks stand. */
  lengthOf(request: ReplayRequest): number {
    const around = request.fixed ? 0 : this.#frame.systemTokens + this.#frame.questionTokens
    return around + request.sizes.reduce((sum, size) => sum + size, 0)
  }

  /** The prompt with the blocks in this order. */
  tokensOf(request: ReplayRequest, order: readonly number[]): Uint32Array {
    const tokens = new Uint32Array(this.lengthOf(request))
    let end = 0
    const add = (base: number, count: number): void => {
      for (let i = 0; i < count; i++) tokens[end++] = base + i
    }
    if (!request.fixed) add(0, this.#frame.systemTokens)
    for (const place of order) add(this.#blockBases.get(request.context[place]!)!, request.sizes[place]!)
    if (!request.fixed) add(this.#questionBases[request.number]!, this.#frame.questionTokens)
    return tokens
  }

  /** How many of the blocks, in this order, lie wholly within the prompt's first `tokens` tokens. */
  blocksWithin(request: ReplayRequest, order: readonly number[], tokens: number): number {
    let end = request.fixed ? 0 : this.#frame.systemTokens
    let blocks = 0
    for (const place of order) {
      end += request.sizes[place]!
      if (end > tokens) break
      blocks += 1
    }
    return blocks
  }

  #allot(tokens: number): number {
    const base = this.#nextId
    this.#nextId += tokens
    if (this.#nextId <= tokenIds) return base
    throw new ReplayError('the trace has more than 2^32 different tokens; replay a part of it with --limit')
  }
}
