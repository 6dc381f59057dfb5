/** What every engine answers at: the APIs that are rewritten, and what OpenAI's clients ask besides. */
const common = [
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/responses',
  '/v1/responses/*',
  '/v1/messages',
  '/v1/messages/count_tokens',
  '/v1/embeddings',
  '/v1/models',
  '/v1/models/*',
  '/v1/audio/transcriptions',
  '/v1/audio/translations',
  '/v1/audio/speech',
  '/v1/realtime',
]

/**
 * By kind of engine, the paths that ask for inference (`matchesPath` says what `*` is). What is not listed resets and
 * flushes caches, aborts requests of others, loads weights and adapters, profiles, puts the engine to sleep, or tells of
 * all that it does: vLLM 0.32 and SGLang 0.5.23 have some 40 such paths, and new ones with each release.
 */
const inferencePaths: Readonly<Record<'vllm' | 'sglang' | 'openai', readonly string[]>> = {
  vllm: [
    ...common,
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
  ],
  sglang: [
    ...common,
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
  ],
  openai: [...common, '/v1/moderations', '/v1/rerank', '/v1/images/generations', '/generate', '/health'],
}

/** Whether a path is one of the listed, to the letter: what an engine might read as another path is not. */
export function isInferencePath(kind: keyof typeof inferencePaths, path: string): boolean {
  return inferencePaths[kind].some((listed) => matchesPath(listed, path))
}

/** Whether a path, without its query, is the listed one; a `*` at the end stands for one part or more of a plain path. */
export function matchesPath(listed: string, path: string): boolean {
  if (!listed.endsWith('*')) return path === listed
  const front = listed.slice(0, -1)
  const rest = path.slice(front.length)
  return (
    path.startsWith(front) && rest !== '' && /^[\w.:@~-]+(\/[\w.:@~-]+)*$/.test(rest) && !/(^|\/)\.\.?($|\/)/.test(rest)
  )
}
