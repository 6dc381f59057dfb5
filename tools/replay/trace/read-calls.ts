import { ReplayError } from '../replay-error.ts'
import { encodeText } from './count-tokens.ts'
import { readCount, readName, readText } from './read-fields.ts'
import type { Line } from './read-json-lines.ts'
import { splitAtPrefixes } from './split-at-prefixes.ts'
import { defaultTenant, type TraceRequest } from './trace.ts'

/** A piece of a prompt, tokenised on its own. */
interface Segment {
  readonly text: string
  /** in code points, as in traces */
  readonly characters: number
  readonly tokens: Uint32Array
}

/**
 * Reads the lines of a trace of agent calls. A prompt is the session's previous one, cut to `lcp_prev_chars`
 * characters, followed by `suffix`. Its blocks are the longest pieces that no two calls share in part; they are shared
 * as prefixes.
 */
export function readCalls(lines: readonly Line[]): TraceRequest[] {
  const sessions = new Map<string | number, Segment[]>()
  const prompts = lines.map((line) => {
    const session = readName(line, 'session')
    if (session === undefined) throw new ReplayError(`${line.where}: "session" is missing`)
    const kept = cut(line, sessions.get(session) ?? [], readCount(line, 'lcp_prev_chars'))
    const segments = [...kept, toSegment(readText(line, 'suffix') ?? '')]
    sessions.set(session, segments)
    return joinTokens(segments)
  })
  const contexts = splitAtPrefixes(prompts)
  return lines.map((line, at) => ({
    queryId: `${readName(line, 'session')}/${readName(line, 'call') ?? line.number}`,
    query: undefined,
    conversation: String(readName(line, 'session')),
    tenant: defaultTenant,
    blocks: contexts[at]!,
    fixed: true,
  }))
}

function cut({ where }: Line, segments: readonly Segment[], characters: number): Segment[] {
  const kept: Segment[] = []
  let left = characters
  for (const segment of segments) {
    if (left === 0) break
    const whole = segment.characters <= left
    kept.push(whole ? segment : toSegment([...segment.text].slice(0, left).join('')))
    left -= Math.min(left, segment.characters)
  }
  if (left > 0) throw new ReplayError(`${where}: "lcp_prev_chars" is more than the session's previous prompt has`)
  return kept
}

function toSegment(text: string): Segment {
  return { text, characters: [...text].length, tokens: encodeText(text) }
}

function joinTokens(segments: readonly Segment[]): Uint32Array {
  const tokens = new Uint32Array(segments.reduce((sum, segment) => sum + segment.tokens.length, 0))
  let at = 0
  for (const segment of segments) {
    tokens.set(segment.tokens, at)
    at += segment.tokens.length
  }
  return tokens
}
