import type { RequestId } from '#index/context-block.ts'
import { readVllmCacheConfig } from '../cache-config.ts'
import type { EngineAdapter } from '../engine-adapter.ts'
import { isInferencePath } from '../inference-paths.ts'
import { numberPrompts } from '../number-prompts.ts'
import { promptApis } from '../prompt-api.ts'
import { askTokenizer, askToRender } from './token-questions.ts'

const paths = [
  '/v1/chat/completions/render',
  '/v1/completions/render',
  '/v1/rerank',
  '/v2/rerank',
  '/rerank',
  '/v1/score',
  '/score',
  '/pooling',
  '/classify',
  '/tokenize',
  '/detokenize',
  '/health',
  '/ping',
  '/version',
]

/**
 * vLLM 0.32. It takes the header for its request id (`chatcmpl-<id>`), and a salt for the first page's hash; of several
 * prompts it tells what was cached of the last one, streamed of that which answered first.
 */
export const vllmAdapter: EngineAdapter = {
  kind: 'vllm',
  countsCachedOfAll: false,
  evictsInWhole: false,
  publishesEvents: true,
  canReuseAnywhere: true,
  pagesMember: () => 'vllm_xargs',
  salts: promptApis,
  cacheSources: [{ path: '/metrics', read: readVllmCacheConfig }],
  isInference: (path) => isInferencePath(paths, path),
  // the probabilities of a prompt's tokens are no part of the cache: vLLM computes the prompt anew, and stores it
  readsCache: ({ prompt_logprobs, echo, logprobs }) => (prompt_logprobs ?? (echo === true ? logprobs : null)) == null,
  tagRequest: (request, cacheSalt) => ({ headers: { 'x-request-id': request }, members: { cache_salt: cacheSalt } }),
  idIn: () => undefined,
  promptIds: (request, { count }) => numberPrompts(request, count),
  // it takes no id from us for `/v1/responses`: it answers as `resp_ID` and runs `resp_ID_0`
  reportedName: (api, answerId) => (api === 'responses' ? (`${answerId}_0` as RequestId) : undefined),
  tokenQuestions: (api, path, members) =>
    [askToRender(api, path, members), askTokenizer(api, members)].filter((question) => question !== undefined),
}
