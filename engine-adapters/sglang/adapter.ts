import type { RequestId } from '#index/context-block.ts'
import { readSglangCacheConfig } from '../cache-config.ts'
import type { EngineAdapter } from '../engine-adapter.ts'
import { isInferencePath } from '../inference-paths.ts'
import { tryJson } from '../json-object.ts'
import { openaiAdapter } from '../openai/adapter.ts'
import { type BodyMembers, type PromptApi, promptApis, promptOnly, type TokenQuestion } from '../prompt-api.ts'
import { scoreWithSglang } from './score-answer.ts'

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

/** SGLang 0.5. Ignores the request id header; `rid` in the body does reach its cache. */
export const sglangAdapter: EngineAdapter = {
  ...openaiAdapter,
  kind: 'sglang',
  evictsInWhole: true,
  usualPageTokens: 1,
  // with --enable-cache-report
  omitsZeroCached: true,
  advice: {
    name: 'SGLang',
    reportCachedTokens: 'start SGLang with --enable-cache-report',
    switchOnCache: 'start SGLang without --disable-radix-cache',
    pluginFlags: '--radix-cache-backend reprise',
    separateRanks: 'start one SGLang per replica, with --dp-size 1, and give each as a separate --engine',
  },
  publishesEvents: true,
  canReuseAnywhere: true,
  reuseMember: wishMember,
  pagesMember: wishMember,
  // SGLang drops the salt of `/v1/messages`
  salts: promptApis.filter((api) => api !== 'messages'),
  // 0.5.23 logs a warning for the second path; versions before 0.5.4 have only that one
  cacheSources: ['/server_info', '/get_server_info'].map((path) => ({
    path,
    read: (text) => readSglangCacheConfig(tryJson(text)),
  })),
  isInference: (path) => isInferencePath(paths, path),
  tagRequest: (request, cacheSalt, { rid } = {}) => ({
    headers: { 'x-request-id': request },
    // a list of `rid`s names each prompt: keep it
    members: { ...(Array.isArray(rid) ? {} : { rid: request }), cache_salt: cacheSalt },
  }),
  idIn: ({ rid }) => (typeof rid === 'string' ? rid : undefined),
  // the prompts of a list get `ID_0`, `ID_1` …, even if there is only one, unless the client names each prompt
  promptIds: (request, { count, isList, rid }) => {
    if (!isList) return Array.from({ length: count }, () => request)
    return areNames(rid, count) ? rid : Array.from({ length: count }, (_, i) => `${request}_${i}` as RequestId)
  },
  // SGLang takes no id from us for `/v1/responses`, and for no API if n > 1: each sample gets its own id, and the
  // answer carries only the first; the ids of the other samples, and all ids for `/v1/messages`, are never reported
  reportedName: (api, answerId) => (api === 'messages' ? undefined : (answerId as RequestId)),
  tokenQuestions: (api, _path, members) => {
    const question = askTokenizer(api, members)
    return question ? [question] : []
  },
  scoreAnswer: scoreWithSglang,
}

/** `/generate` takes it among its sampling parameters; the other APIs have no such member. */
function wishMember(api: PromptApi): string | undefined {
  return api === 'chat_completions' || api === 'completions' ? 'custom_params' : undefined
}

function areNames(rid: unknown, count: number): rid is RequestId[] {
  return Array.isArray(rid) && new Set(rid).size === count && rid.every((name) => typeof name === 'string')
}

/** The member that holds the text, for APIs other than chat; SGLang cannot tokenise Responses or Messages bodies. */
const textIn: Partial<Record<PromptApi, string>> = { completions: 'prompt', generate: 'text' }

/** Returns the question for SGLang's tokenizer, which takes chats and texts; undefined for anything else. */
function askTokenizer(api: PromptApi, members: BodyMembers): TokenQuestion | undefined {
  const path = '/tokenize'
  if (api === 'chat_completions') return { path, body: promptOnly(members) }
  const name = textIn[api]
  const prompt = name === undefined ? undefined : members[name]
  const isText =
    typeof prompt === 'string' || (Array.isArray(prompt) && prompt.every((item) => typeof item === 'string'))
  return isText ? { path, body: { prompt } } : undefined
}
