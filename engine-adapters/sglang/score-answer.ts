import { isObject } from '../json-object.ts'
import type { BodyMembers } from '../prompt-api.ts'
import {
  type AnswerScores,
  type AskScores,
  readScoredPrompt,
  type ScoreAnswer,
  tokensIn,
} from '../scoring/scored-prompt.ts'

/**
 * Scores an answer with SGLang 0.5.23. Its chat API scores no prompt; its own `/generate` does, from a token on, and takes
 * what is in front of that from the cache. So the prompt and the answer are tokenised by the engine, and joined.
 */
export const scoreWithSglang: ScoreAnswer = async (scored, ask) => {
  const prompt = readScoredPrompt(scored)
  if (!prompt) return undefined
  const { model, cache_salt } = scored.members
  const adapter = adapterOf(scored.members)
  const front =
    'ids' in prompt ? prompt.ids : await tokensOf('chat' in prompt ? prompt.chat : { model, prompt: prompt.text }, ask)
  const answer = await tokensOf({ model, prompt: prompt.answer, add_special_tokens: false }, ask)
  if (!front?.length || !answer?.length) return undefined
  const body = {
    // SGLang serves one model by any name, and reads no name here
    ...(model === undefined ? {} : { model }),
    input_ids: [...front, ...answer],
    sampling_params: { max_new_tokens: 1, temperature: 0 },
    return_logprob: true,
    // the token at the start itself is not scored
    logprob_start_len: front.length - 1,
    ...(cache_salt === undefined ? {} : { cache_salt }),
    ...(adapter === undefined ? {} : { lora_path: adapter }),
  }
  return readScores(await ask({ path: '/generate', body }), answer)
}

/** The LoRA adapter of a request; the OpenAI APIs name it behind a colon, too. */
function adapterOf({ model, lora_path }: BodyMembers): unknown {
  const named = typeof model === 'string' ? model.split(':').slice(1).join(':').trim() : ''
  return named === '' ? lora_path : named
}

async function tokensOf(body: BodyMembers, ask: AskScores): Promise<number[] | undefined> {
  return tokensIn(await ask({ path: '/tokenize', body }))
}

/** Reads `[log p, id, text]` of each of the answer's tokens, the last ones of the prompt. */
function readScores(said: unknown, answer: readonly number[]): AnswerScores {
  const scored = isObject(said) && isObject(said.meta_info) ? said.meta_info.input_token_logprobs : undefined
  if (!Array.isArray(scored) || scored.length < answer.length) return undefined
  const own = scored.slice(-answer.length) as unknown[][]
  const isOwn = own.every((entry, i) => Array.isArray(entry) && entry[1] === answer[i] && typeof entry[0] === 'number')
  return isOwn ? own.map(([logprob]) => logprob as number) : undefined
}
