import type { RequestId } from '#index/context-block.ts'
import { readVllmCacheConfig } from '../cache-config.ts'
import type { EngineAdapter } from '../engine-adapter.ts'
import { isInferencePath } from '../inference-paths.ts'
import { numberPrompts } from '../number-prompts.ts'
import { promptApis } from '../prompt-api.ts'
import { scoreWithVllm } from './score-answer.ts'
import { askForStrings, askTokenizer, askToRender } from './token-questions.ts'

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
 * vLLM 0.32. It builds its request id from the header (`chatcmpl-<id>`) and mixes the salt into the first page's hash.
 * For several prompts, it reports the cached tokens of the last one; in a stream, those of the one that answered first.
 */
export const vllmAdapter: EngineAdapter = {
  kind: 'vllm',
  countsCachedOfAll: false,
  evictsInWhole: false,
  usualPageTokens: 16,
  omitsZeroCached: false,
  probeTokens: 450,
  advice: {
    name: 'vLLM',
    reportCachedTokens: 'start vLLM with --enable-prompt-tokens-details',
    switchOnCache: 'start vLLM without --no-enable-prefix-caching',
    pluginFlags: `--kv-transfer-config '{"kv_connector":"RepriseConnector","kv_connector_module_path":"reprise_vllm.connector","kv_role":"kv_producer"}'`,
    separateRanks:
      'give each rank its own address (--data-parallel-external-lb), and each address as a separate --engine',
  },
  publishesEvents: true,
  canReuseAnywhere: true,
  pagesMember: () => 'vllm_xargs',
  salts: promptApis,
  cacheSources: [{ path: '/metrics', read: readVllmCacheConfig }],
  isInference: (path) => isInferencePath(paths, path),
  // log probabilities of prompt tokens are not cached: vLLM computes the prompt again, and stores it
  readsCache: ({ prompt_logprobs, echo, logprobs }) => (prompt_logprobs ?? (echo === true ? logprobs : null)) == null,
  tagRequest: (request, cacheSalt) => ({ headers: { 'x-request-id': request }, members: { cache_salt: cacheSalt } }),
  idIn: () => undefined,
  promptIds: (request, { count }) => numberPrompts(request, count),
  // for `/v1/responses` it ignores our id: it answers as `resp_ID` and runs `resp_ID_0`
  reportedName: (api, answerId) => (api === 'responses' ? (`${answerId}_0` as RequestId) : undefined),
  tokenQuestions: (api, path, members) =>
    [askToRender(api, path, members), askTokenizer(api, members)].filter((question) => question !== undefined),
  tokenStrings: askForStrings,
  scoreAnswer: scoreWithVllm,
}
