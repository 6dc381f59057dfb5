import { SYSTEM_MESSAGE, toUserMessage } from './prompt.ts'
import type { Model } from './read-model.ts'
import type { Turn } from './workload.ts'

/** Turns that fit into the model's context. */
export interface FittedTurns {
  readonly turns: readonly Turn[]
  /** Number of turns sent with fewer blocks than were retrieved. */
  readonly shortened: number
  /** Number of turns dropped because their conversation was too long even without blocks. */
  readonly leftOut: number
}

// the proxy may add an annotation to each message: a fixed sentence and a label for each block
const ANNOTATION_TOKENS = 40
const LABEL_TOKENS = 10

/** Drops the last blocks of each turn until the prompt, its history and the answers fit into the model's context. */
export async function fitTurns(turns: readonly Turn[], model: Model, maxTokens: number): Promise<FittedTurns> {
  const used = new Map<string, number>()
  const fitted: Turn[] = []
  for (const turn of turns) {
    const before = turn.conversation === undefined ? 0 : (used.get(turn.conversation) ?? 0)
    const fit = await fitTurn(turn, model, before + maxTokens)
    if (!fit) continue
    fitted.push(fit.turn)
    if (turn.conversation !== undefined) used.set(turn.conversation, before + maxTokens + fit.tokens)
  }
  const shortened = fitted.filter((turn) => !turns.includes(turn)).length
  return { turns: fitted, shortened, leftOut: turns.length - fitted.length }
}

async function fitTurn(turn: Turn, model: Model, taken: number): Promise<{ turn: Turn; tokens: number } | undefined> {
  for (let kept = turn.blocks.length; kept >= 0; kept -= 1) {
    const candidate = kept === turn.blocks.length ? turn : { ...turn, blocks: turn.blocks.slice(0, kept) }
    const prompt = await model.countTokens([SYSTEM_MESSAGE, toUserMessage(candidate)])
    const tokens = prompt + ANNOTATION_TOKENS + LABEL_TOKENS * kept
    if (taken + tokens <= model.positions) return { turn: candidate, tokens }
  }
  return undefined
}
