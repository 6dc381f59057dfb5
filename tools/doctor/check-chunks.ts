import { type EngineConnection, isGood } from './engine/engine-connection.ts'
import { type Finding, notChecked, ok, warning } from './finding.ts'

/** Checks what a running proxy knows about chunks; no findings if it does not say. */
export async function checkChunks(connection: EngineConnection): Promise<Finding[]> {
  const reply = await connection.get('/v1/chunks')
  return isGood(reply) ? judgeChunks(reply.json) : []
}

/** Judges the answer of `GET /v1/chunks`. */
export function judgeChunks(json: unknown): Finding[] {
  const { chunks, learned, learns, last_match_seconds_ago: last } = (json ?? {}) as Record<string, unknown>
  if (typeof chunks !== 'number' || typeof learned !== 'number') return []
  const check = 'known_chunks'
  if (chunks === 0) {
    const found = `no chunk is known${learns === false ? ', and none is learned (learn)' : ''}: documents that are separated only by blank lines are not found`
    return [
      notChecked(check, found, 'send embeddings and reranks through the proxy, or register chunks: docs/chunks.md'),
    ]
  }
  const known = `${chunks} chunks are known, ${learned} of them learned and ${chunks - learned} registered`
  if (typeof last === 'number') return [ok(check, `${known}; a prompt last contained one ${last} s ago`)]
  const fix =
    'see GET /v1/shapes for what is left alone; a chunk must be in the prompt as it was embedded or registered'
  return [warning(check, `${known}, and no prompt contained any of them`, fix)]
}
