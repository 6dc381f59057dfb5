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
 * Whether a path asks for inference: one of those that every engine answers at, or of `own`, to the letter (`matchesPath`
 * says what `*` is). What is not listed resets and flushes caches, aborts requests of others, loads weights and adapters,
 * profiles, puts the engine to sleep, or tells of all that it does: vLLM 0.32 and SGLang 0.5.23 have some 40 such paths,
 * and new ones with each release.
 */
export function isInferencePath(own: readonly string[], path: string): boolean {
  return [...common, ...own].some((listed) => matchesPath(listed, path))
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
