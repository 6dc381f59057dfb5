import { tryJson } from '#engine-adapters/json-object.ts'
import type { GivenChunk } from '../../chunks/known-chunks.ts'
import { ProxyError } from '../../common/errors.ts'

/**
 * Reads `{"chunks":[{"id"?,"text"}…],"tenant"?}`, an array of such chunks, or JSONL with one per line; a bare text
 * counts as a chunk, too. Throws `invalid_body`, naming the line or the chunk, before anything is registered.
 */
export function readChunks(body: string): { chunks: GivenChunk[]; tenant: string | undefined } {
  const value = tryJson(body)
  if (value === undefined) {
    const chunks = body.split('\n').flatMap((line, i) => readChunkLine(line, `line ${i + 1}`) ?? [])
    return { chunks, tenant: undefined }
  }
  if (Array.isArray(value))
    return { chunks: value.map((item, i) => toChunk(item, `chunk ${i + 1}`)), tenant: undefined }
  const { chunks, tenant } = (value ?? {}) as { chunks?: unknown; tenant?: unknown }
  // a single line of JSONL
  if (chunks === undefined) return { chunks: [toChunk(value, 'line 1')], tenant: undefined }
  if (!Array.isArray(chunks)) throw invalid('\'chunks\' has to be an array of {"id"?,"text"}.')
  if (tenant !== undefined && (typeof tenant !== 'string' || tenant === '')) {
    throw invalid("'tenant' has to be a name; leave it out for everyone.")
  }
  return { chunks: chunks.map((item, i) => toChunk(item, `chunk ${i + 1}`)), tenant }
}

/** Reads one chunk; `place` names it in error messages. */
export function toChunk(item: unknown, place: string): GivenChunk {
  if (typeof item === 'string') return { text: item }
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    throw invalid(`${place} is no chunk: write {"id"?,"text"}, or a text.`)
  }
  const { id, text } = item as { id?: unknown; text?: unknown }
  if (text !== undefined && typeof text !== 'string')
    throw invalid(`${place}: 'text' has to be a text, not ${kindOf(text)}.`)
  if (text === undefined) {
    const names = Object.keys(item).slice(0, 8).join(', ') || 'nothing'
    throw invalid(`${place} has no text: its text has to be in 'text' (it has ${names}).`)
  }
  if (id === undefined || id === null) return { text }
  if (typeof id !== 'string' && typeof id !== 'number') throw invalid(`${place}: 'id' has to be a text or a number.`)
  return { id: String(id), text }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`
}

/** Reads the chunk in a line of JSONL; undefined for an empty line. */
export function readChunkLine(line: string, place: string): GivenChunk | undefined {
  if (line.trim() === '') return undefined
  const value = tryJson(line)
  if (value === undefined) throw invalid(`${place} is not valid JSON: write {"id"?,"text"}, one in each line.`)
  return toChunk(value, place)
}

function invalid(message: string): ProxyError {
  return new ProxyError('invalid_body', message)
}
