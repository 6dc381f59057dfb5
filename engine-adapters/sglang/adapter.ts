import type { RequestId } from '#index/context-block.ts'
import { type CacheConfig, readSglangCacheConfig } from '../cache-config.ts'
import type { EngineAdapter } from '../engine-adapter.ts'
import { isInferencePath } from '../inference-paths.ts'
import { promptApis } from '../prompt-api.ts'
import { askTokenizer } from './token-questions.ts'

const paths = [
  '/generate',
  '/encode',
  '/classify',
  '/v1/rerank',
  '/v1/score',
  '/v1/classify',
  '/v1/tokenize',
  '/v1/detokenize',
  '/tokenize',
  '/detokenize',
  '/model_info',
  '/get_model_info',
  '/health',
  '/ping',
]

/** SGLang 0.5. It does not read the header for a request id; `rid` in the body reaches its cache. */
export const sglangAdapter: EngineAdapter = {
  kind: 'sglang',
  countsCachedOfAll: true,
  evictsInWhole: true,
  publishesEvents: true,
  canReuseAnywhere: false,
  // `/generate` has it among its sampling parameters; the others have no such member
  pagesMember: (api) => (api === 'chat_completions' || api === 'completions' ? 'custom_params' : undefined),
  // it drops the salt of `/v1/messages`
  salts: promptApis.filter((api) => api !== 'messages'),
  // 0.5.23 warns in its log of the second, versions before 0.5.4 have no other
  cacheSources: ['/server_info', '/get_server_info'].map((path) => ({ path, read: readServerInfo })),
  isInference: (path) => isInferencePath(paths, path),
  readsCache: () => true,
  tagRequest: (request, cacheSalt, { rid } = {}) => ({
    headers: { 'x-request-id': request },
    // a name for each prompt
    members: { ...(Array.isArray(rid) ? {} : { rid: request }), cache_salt: cacheSalt },
  }),
  idIn: ({ rid }) => (typeof rid === 'string' ? rid : undefined),
  // those of a list are `ID_0`, `ID_1` …, also when there is but one, unless the client names each
  promptIds: (request, { count, isList, rid }) => {
    if (!isList) return Array.from({ length: count }, () => request)
    return areNames(rid, count) ? rid : Array.from({ length: count }, (_, i) => `${request}_${i}` as RequestId)
  },
  // it takes no id from us for `/v1/responses`, and with n > 1 none at all: each sample has an id of its own, of which the
  // answer bears the first; of the others, and of all behind `/v1/messages`, nobody tells whose they are
  reportedName: (api, answerId) => (api === 'messages' ? undefined : (answerId as RequestId)),
  tokenQuestions: (api, _path, members) => {
    const question = askTokenizer(api, members)
    return question ? [question] : []
  },
}

function areNames(rid: unknown, count: number): rid is RequestId[] {
  return Array.isArray(rid) && new Set(rid).size === count && rid.every((name) => typeof name === 'string')
}

function readServerInfo(text: string): CacheConfig | undefined {
  try {
    return readSglangCacheConfig(JSON.parse(text))
  } catch {
    // what is no JSON says nothing of a cache
    return undefined
  }
}
