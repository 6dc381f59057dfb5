import type { RequestId } from '#index/context-block.ts'
import { readVllmCacheConfig } from '../cache-config.ts'
import type { EngineAdapter } from '../engine-adapter.ts'
import { isInferencePath } from '../inference-paths.ts'
import { openaiAdapter } from '../openai/adapter.ts'
import { type BodyMembers, type PromptApi, promptApis, promptOnly, type TokenQuestion } from '../prompt-api.ts'
import { scoreWithVllm } from './score-answer.ts'

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
  ...openaiAdapter,
  kind: 'vllm',
  countsCachedOfAll: false,
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
  reuseMember: () => 'kv_transfer_params',
  pagesMember: () => 'vllm_xargs',
  salts: promptApis,
  cacheSources: [{ path: '/metrics', read: readVllmCacheConfig }],
  isInference: (path) => isInferencePath(paths, path),
  // log probabilities of prompt tokens are not cached: vLLM computes the prompt again, and stores it
  readsCache: ({ prompt_logprobs, echo, logprobs }) => (prompt_logprobs ?? (echo === true ? logprobs : null)) == null,
  tagRequest: (request, cacheSalt) => ({ headers: { 'x-request-id': request }, members: { cache_salt: cacheSalt } }),
  // for `/v1/responses` it ignores our id: it answers as `resp_ID` and runs `resp_ID_0`
  reportedName: (api, answerId) => (api === 'responses' ? (`${answerId}_0` as RequestId) : undefined),
  tokenQuestions: (api, path, members) =>
    [askToRender(api, path, members), askTokenizer(api, members)].filter((question) => question !== undefined),
  tokenStrings: (api, members) => {
    const question = askTokenizer(api, members)
    return question && { ...question, body: { ...question.body, return_token_strs: true } }
  },
  scoreAnswer: scoreWithVllm,
}

/** The members of a chat request that `/tokenize` accepts. */
const tokenizedMembers = new Set(
  'model messages add_generation_prompt continue_final_message add_special_tokens chat_template chat_template_kwargs tools'.split(
    ' ',
  ),
)

/**
 * Asks vLLM to render the prompt it would run: each API has a `/render` path. vLLM 0.32 offers it only if started with
 * `--enable-scale-out`.
 */
function askToRender(api: PromptApi, path: string, members: BodyMembers): TokenQuestion | undefined {
  if (api === 'generate') return undefined
  const { pathname } = new URL(path, 'http://engine')
  const body = promptOnly(members)
  // this API requires an answer length
  if (api === 'messages') body.max_tokens = members.max_tokens
  return { path: `${pathname.replace(/\/+$/, '')}/render`, body }
}

/**
 * Asks vLLM's `/tokenize`. Returns undefined for chats whose template gets more than `/tokenize` accepts, and for APIs
 * that it does not cover.
 */
function askTokenizer(api: PromptApi, members: BodyMembers): TokenQuestion | undefined {
  const { model } = members
  if (api === 'completions' && typeof members.prompt === 'string') {
    const { prompt, add_special_tokens } = members
    return { path: '/tokenize', body: { model, prompt, add_special_tokens } }
  }
  if (api !== 'chat_completions' || !isPlainChat(members)) return undefined
  const taken = Object.entries(members).filter(([name]) => tokenizedMembers.has(name))
  return { path: '/tokenize', body: Object.fromEntries(taken) }
}

function isPlainChat({ messages, documents, reasoning_effort, tool_choice }: BodyMembers): boolean {
  if ([documents, reasoning_effort, tool_choice].some((member) => member !== undefined && member !== null)) return false
  return (
    Array.isArray(messages) &&
    messages.every(
      ({ content }: BodyMembers) =>
        !Array.isArray(content) || content.every(({ type }: BodyMembers) => type === 'text'),
    )
  )
}
