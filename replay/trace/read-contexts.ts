import type { BlockId } from '#index/context-block.ts'
import { ReplayError } from '../replay-error.ts'
import { readName, readNames, readNumber, readText } from './read-fields.ts'
import type { Line } from './read-json-lines.ts'
import { defaultTenant, type Trace, type TraceRequest } from './trace.ts'
import { keyOf, TraceBlock } from './trace-block.ts'

/** Reads request lines and sorts them by arrival. Unless `isStrict`, an unknown block counts as one token. */
export function readContexts(
  lines: readonly Line[],
  blocks: Map<BlockId, TraceBlock>,
  isStrict: boolean,
): Pick<Trace, 'requests' | 'skipped'> {
  const wanted = lines.filter(({ fields }) => fields.has_text !== false)
  const arrivals = wanted.map((line, at) => ({
    arrival: readNumber(line, 'arrival') ?? at,
    request: readRequest(line, (id) => {
      const known = blocks.get(keyOf(id))
      if (known) return known
      if (isStrict)
        throw new ReplayError(`${line.where}: block ${JSON.stringify(id)} is not in the trace's blocks file`)
      const block = new TraceBlock(id, { tokens: 1 })
      blocks.set(block.key, block)
      return block
    }),
  }))
  arrivals.sort((a, b) => a.arrival - b.arrival)
  return { requests: arrivals.map(({ request }) => request), skipped: lines.length - wanted.length }
}

function readRequest(line: Line, find: (id: string | number) => TraceBlock): TraceRequest {
  const list = line.fields.blocks === undefined && line.fields.top100 !== undefined ? 'top100' : 'blocks'
  const conversation = readName(line, 'conversation')
  const { front, rest } = line.fields
  return {
    queryId: readName(line, 'query_id') ?? deriveId(line, conversation),
    query: readText(line, 'query') ?? readText(line, 'question'),
    conversation: conversation === undefined ? undefined : String(conversation),
    answers: line.fields.answers === undefined ? undefined : readNames(line, 'answers').map(String),
    tenant: readText(line, 'tenant') ?? defaultTenant,
    blocks: readNames(line, list).map(find),
    around:
      front === undefined && rest === undefined
        ? undefined
        : { front: readNames(line, 'front').map(find), rest: readNames(line, 'rest').map(find) },
    fixed: false,
  }
}

/** Derives an id that is the same in every run. */
function deriveId(line: Line, conversation: string | number | undefined): string {
  const turn = readName(line, 'turn') ?? readName(line, 'q')
  return conversation === undefined || turn === undefined ? `line ${line.number}` : `${conversation}/${turn}`
}
