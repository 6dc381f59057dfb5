import type { RequestId } from '#index/context-block.ts'
import type { EngineAdapter } from '../engine-adapter.ts'
import { isInferencePath } from '../inference-paths.ts'

const paths = ['/v1/moderations', '/v1/rerank', '/v1/images/generations', '/generate', '/health']

/** Any engine with OpenAI's API, from which others differ: nothing is added to a request but an id in its header, and nothing is asked. */
export const openaiAdapter: EngineAdapter = {
  kind: 'openai',
  countsCachedOfAll: true,
  evictsInWhole: false,
  // vLLM's, which is assumed for other engines too
  usualPageTokens: 16,
  omitsZeroCached: false,
  advice: {
    name: 'the engine',
    reportCachedTokens:
      'switch on usage.prompt_tokens_details in the engine (vLLM: --enable-prompt-tokens-details, SGLang: --enable-cache-report)',
    switchOnCache: 'switch on prefix caching in the engine',
    pluginFlags: undefined,
    separateRanks: 'give each rank as a separate --engine',
  },
  publishesEvents: false,
  canReuseAnywhere: false,
  reuseMember: () => undefined,
  pagesMember: () => undefined,
  salts: [],
  cacheSources: [],
  isInference: (path) => isInferencePath(paths, path),
  readsCache: () => true,
  tagRequest: (request) => ({ headers: { 'x-request-id': request }, members: {} }),
  idIn: () => undefined,
  // as vLLM 0.32 reports them (`cmpl-ID-0-…`): `ID`, then `ID-1`, `ID-2` …
  promptIds: (request, { count }) =>
    Array.from({ length: count }, (_, i) => (i === 0 ? request : `${request}-${i}`) as RequestId),
  reportedName: () => undefined,
  tokenQuestions: () => [],
  tokenStrings: () => undefined,
  scoreAnswer: undefined,
}
