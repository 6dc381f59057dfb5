import type { Answer, Output } from './answer.ts'
import { type GenerateBody, isBatch, readGenerateBody } from './bodies.ts'
import { badRequest } from './engine-error.ts'
import type { Call } from './http-server.ts'
import type { PromptReader, ServedRequest } from './prompt-reader.ts'

/** SGLang's own `POST /generate`, for one prompt or many. Each streamed message repeats the text generated so far. */
export function answerGenerate(reader: PromptReader, call: Call): Answer {
  const body = readGenerateBody(call.body)
  // text takes precedence over token ids, as in SGLang
  const prompts = body.text ?? body.input_ids!
  const isList = isBatch(prompts)
  const maximum = body.sampling_params?.max_new_tokens
  const requests = reader.requests(reader.requestId(call.headers, body), body, prompts, maximum)
  const scores = requests.map((request) => toScores(reader, body, request))
  const toMessage = (output: Output, prompt: number): object => {
    return { text: output.text, meta_info: { ...toMetaInfo(requests[prompt]!, output), ...scores[prompt] } }
  }
  return {
    requests,
    isStream: body.stream ?? false,
    earlyHeaders: false,
    pieces: (_, output, prompt) => [{ ...toMessage(output, prompt), ...(isList ? { index: prompt } : {}) }],
    closing: () => [],
    // a list with one prompt is answered with a list of one answer
    whole: (outputs) => (isList ? outputs.map(toMessage) : toMessage(outputs[0]!, 0)),
  }
}

/** What is added to `meta_info` if log probabilities are asked for; the answer's own are all the same. */
function toScores(reader: PromptReader, body: GenerateBody, { prompt }: ServedRequest): object {
  const tokens = body.return_logprob ? reader.score(body, prompt) : undefined
  if (!tokens) return {}
  const start = body.logprob_start_len ?? -1
  if (start > prompt.length) {
    const message = `req.logprob_start_len=${start} is higher than the number of input tokens len(req.origin_input_ids)=${prompt.length}. Please use a smaller logprob_start_len.`
    throw badRequest(message)
  }
  // of the token at the start itself, SGLang knows none
  const scored = start < 0 ? [] : tokens.slice(start)
  return { input_token_logprobs: scored.map(({ id, logprob }, i) => [i === 0 ? null : logprob, id, null]) }
}

function toMetaInfo({ requestId, prompt, outputTokens, reason }: ServedRequest, output: Output): object {
  const reasons = { length: { type: 'length', length: outputTokens }, stop: { type: 'stop', matched: null } }
  return {
    id: requestId,
    finish_reason: output.index === outputTokens - 1 ? reasons[reason] : null,
    prompt_tokens: prompt.length,
    completion_tokens: output.index + 1,
    cached_tokens: output.cachedTokens,
  }
}
