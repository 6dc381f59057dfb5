/** Paths of every engine: the APIs that are rewritten, and what OpenAI's clients request in addition. */
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
 * Returns whether a path is inference: it matches, to the letter, a path of every engine or one of `own` (`matchesPath`
 * defines `*`). Other paths reset and flush caches, abort requests of other users, load weights and adapters, profile,
 * put the engine to sleep, or reveal everything it does: vLLM 0.32 and SGLang 0.5.23 have some 40 such paths, and each
 * release adds new ones.
 */
export function isInferencePath(own: readonly string[], path: string): boolean {
  return [...common, ...own].some((listed) => matchesPath(listed, path))
}

/** Whether a path, without its query, is the listed one. A final `*` stands for one or more plain path segments. */
export function matchesPath(listed: string, path: string): boolean {
  if (!listed.endsWith('*')) return path === listed
  const front = listed.slice(0, -1)
  const rest = path.slice(front.length)
  return (
    path.startsWith(front) && rest !== '' && /^[\w.:@~-]+(\/[\w.:@~-]+)*$/.test(rest) && !/(^|\/)\.\.?($|\/)/.test(rest)
  )
}
