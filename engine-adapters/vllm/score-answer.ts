import { isObject } from '../json-object.ts'
import type { BodyMembers } from '../prompt-api.ts'
import {
  type AnswerScores,
  type AskScores,
  readScoredPrompt,
  type ScoreAnswer,
  type ScoredAnswer,
  type ScoredPrompt,
  tokensIn,
} from '../scoring/scored-prompt.ts'

/**
 * Up to this many tokens, one request scores the whole prompt (`prompt_logprobs`). vLLM's memory plan leaves those logits
 * out: its older model runner holds them for all tokens of a step at once, 6 bytes for each word of the vocabulary, and an
 * engine that runs out of memory ends. The newer one takes 1,024 tokens at a time.
 */
const mostPromptTokens = 1_024
/** vLLM gives no more than this unless it is started with `--max-logprobs`. */
const alternatives = 20

const once = { max_tokens: 1, temperature: 0, stream: false }

/**
 * Scores an answer with vLLM 0.32. A short prompt is scored whole; of a longer one, some of the answer's tokens are: the
 * prompt with what was answered before each of them is sent as a prompt of its own, all but the first come from the
 * cache, and the next token's alternatives are read.
 */
export const scoreWithVllm: ScoreAnswer = async (scored, ask) => {
  const prompt = readScoredPrompt(scored)
  if (!prompt) return undefined
  const isShort = scored.promptTokens !== undefined && scored.promptTokens <= mostPromptTokens
  return isShort && !('ids' in prompt) ? scoreWhole(scored, prompt, ask) : scoreProbes(scored, prompt, ask)
}

async function scoreWhole(
  { members: { model, cache_salt } }: ScoredAnswer,
  prompt: Exclude<ScoredPrompt, { ids: unknown }>,
  ask: AskScores,
): Promise<AnswerScores> {
  const more = { ...once, prompt_logprobs: 0, ...(cache_salt === undefined ? {} : { cache_salt }) }
  const path = 'chat' in prompt ? '/v1/chat/completions' : '/v1/completions'
  const tokens = readPromptTokens(await ask({ path, body: { ...asSent(prompt, model), ...more } }))
  return tokens && alignTokens(tokens, prompt.answer)
}

/** A prompt with its answer behind it; in a chat, the model is about to go on with it. */
function asSent(prompt: Exclude<ScoredPrompt, { ids: unknown }>, model: unknown): BodyMembers {
  if ('text' in prompt) return { model, prompt: prompt.text + prompt.answer }
  const { chat, answer } = prompt
  return {
    ...chat,
    messages: [...chat.messages, { role: 'assistant', content: answer }],
    add_generation_prompt: false,
    continue_final_message: true,
    // with tools the engine would choose `auto`, which it refuses if it is not started for that
    ...(chat.tools == null ? {} : { tool_choice: 'none' }),
  }
}

/** The tokens of a scored prompt but the first, which nothing precedes. */
function readPromptTokens(said: unknown): ScoredToken[] | undefined {
  if (!isObject(said)) return undefined
  const inChoice =
    Array.isArray(said.choices) && isObject(said.choices[0]) ? said.choices[0].prompt_logprobs : undefined
  const list = said.prompt_logprobs ?? inChoice
  if (!Array.isArray(list)) return undefined
  const tokens = list.flatMap((entry) => (entry === null ? [] : [readPromptToken(entry)]))
  return tokens.every((token) => token !== undefined) ? tokens : undefined
}

/** An entry has the prompt's own token, and no other if none is asked for. */
function readPromptToken(entry: unknown): ScoredToken | undefined {
  const [token, ...others] = isObject(entry) ? Object.values(entry) : []
  if (others.length > 0 || !isObject(token)) return undefined
  const { logprob, decoded_token: text } = token
  return typeof logprob === 'number' && typeof text === 'string' ? { text, logprob } : undefined
}

async function scoreProbes(scored: ScoredAnswer, prompt: ScoredPrompt, ask: AskScores): Promise<AnswerScores> {
  const { model, cache_salt } = scored.members
  const tokenize = (body: BodyMembers): Promise<unknown> => ask({ path: '/tokenize', body })
  const answered = await tokenize({ model, prompt: prompt.answer, add_special_tokens: false, return_token_strs: true })
  const ids = tokensIn(answered)
  const whole = 'ids' in prompt ? [...prompt.ids, ...(ids ?? [])] : tokensIn(await tokenize(asSent(prompt, model)))
  if (!ids?.length || !whole) return undefined
  const start = whole.length - ids.length
  // template and answer may share a token: then only its start is in doubt
  if (start < 1 || ids.slice(1).some((id, i) => whole[start + 1 + i] !== id)) return undefined
  const { token_strs: texts } = answered as { token_strs?: unknown }
  const positions = probedPositions(Array.isArray(texts) ? texts.map(String) : ids.map(() => ''))
  const body = {
    model,
    prompt: positions.map((position) => whole.slice(0, start + position)),
    ...once,
    logprobs: alternatives,
    return_tokens_as_token_ids: true,
    ...(cache_salt === undefined ? {} : { cache_salt }),
  }
  const said = await ask({ path: '/v1/completions', body })
  return readProbes(
    said,
    positions.map((position) => whole[start + position]!),
  )
}

/** Reads how likely each token was in its place. */
function readProbes(said: unknown, ids: readonly number[]): AnswerScores {
  const choices = isObject(said) ? said.choices : undefined
  if (!Array.isArray(choices) || choices.length !== ids.length) return undefined
  const tokens: number[] = []
  for (const { index = 0, logprobs } of choices.filter(isObject)) {
    const logprob = readProbe(logprobs, ids[Number(index)])
    if (logprob !== undefined) tokens[Number(index)] = logprob
  }
  return Object.keys(tokens).length === ids.length ? tokens : undefined
}

/** A token that is not among the alternatives is as likely as the last of them. */
function readProbe(logprobs: unknown, id: number | undefined): number | undefined {
  const [top] = isObject(logprobs) && Array.isArray(logprobs.top_logprobs) ? logprobs.top_logprobs : []
  if (!isObject(top)) return undefined
  const own = top[`token_id:${id}`]
  const likely = Object.values(top).filter((value) => typeof value === 'number')
  if (likely.length === 0) return undefined
  return typeof own === 'number' ? own : Math.min(...likely)
}

/** A token of a prompt, and how likely it was after all before it. */
interface ScoredToken {
  readonly text: string
  readonly logprob: number
}

/**
 * Finds the tokens of an answer at the end of a prompt; undefined if the prompt does not end in it. White space is not
 * compared: some tokenizers leave it out where they write single tokens.
 */
export function alignTokens(tokens: readonly ScoredToken[], answer: string): AnswerScores {
  let left = withoutSpace(answer)
  const scores: number[] = []
  for (let at = tokens.length - 1; at >= 0 && left !== ''; at--) {
    const { text, logprob } = tokens[at]!
    const words = withoutSpace(text)
    // a token may begin in front of the answer
    if (!left.endsWith(words) && !words.endsWith(left)) return undefined
    scores.push(logprob)
    left = left.slice(0, Math.max(0, left.length - words.length))
  }
  return left === '' && scores.length > 0 ? scores.reverse() : undefined
}

function withoutSpace(text: string): string {
  return text.replaceAll(/\s+/g, '')
}

/** Tokens of an answer that are asked for where not all are scored. */
const probes = 16

/**
 * Chooses tokens of an answer by their texts: the beginnings of lines, where a list goes on with its next item, take up to
 * half of the places; the others are spread evenly. Positions rise.
 */
export function probedPositions(texts: readonly string[]): number[] {
  const lines = texts.flatMap((_, i) => (i > 0 && /[\n\u010a]/.test(texts[i - 1]!) ? [i] : []))
  const chosen = new Set([0, ...spread(lines, probes / 2)])
  const others = texts.map((_, i) => i).filter((i) => !chosen.has(i))
  return [...chosen, ...spread(others, probes - chosen.size)].toSorted((a, b) => a - b)
}

function spread(positions: readonly number[], count: number): number[] {
  if (positions.length <= count) return [...positions]
  return Array.from({ length: count }, (_, i) => positions[Math.floor((i * positions.length) / count)]!)
}
