import type { BlockId } from '#index/context-block.ts'
import { ConfigError } from '#proxy/common/errors.ts'
import { readFlag, readName, readNames, readNumber, readSentRequest, readText, readTexts } from './read-fields.ts'
import type { Line } from './read-json-lines.ts'
import { readList } from './read-list.ts'
import { defaultTenant, type Trace, type TraceRequest } from './trace.ts'
import { keyOf, TraceBlock } from './trace-block.ts'

/** What to do with a request that names an unknown block: count the block as one token, leave out, or throw. */
type UnknownBlocks = 'one_token' | 'leave_out' | 'refuse'

/** Reads request lines and sorts them by arrival. `incomplete`: requests left out because of unknown blocks. */
export function readContexts(
  lines: readonly Line[],
  blocks: Map<BlockId, TraceBlock>,
  unknown: UnknownBlocks,
): Pick<Trace, 'requests' | 'skipped'> & { readonly incomplete: number } {
  const wanted = lines.filter(({ fields }) => fields.has_text !== false)
  const arrivals: { readonly arrival: number; readonly request: TraceRequest }[] = []
  for (const [at, line] of wanted.entries()) {
    let isComplete = true
    const request = readRequest(line, (id) => {
      const known = blocks.get(keyOf(id))
      if (known) return known
      if (unknown === 'refuse') {
        throw new ConfigError(`${line.where}: block ${JSON.stringify(id)} is not in the trace's blocks file`)
      }
      const block = new TraceBlock(id, { tokens: 1 })
      if (unknown === 'one_token') blocks.set(block.key, block)
      else isComplete = false
      return block
    })
    if (isComplete) arrivals.push({ arrival: readNumber(line, 'arrival') ?? at, request })
  }
  arrivals.sort((a, b) => a.arrival - b.arrival)
  return {
    requests: arrivals.map(({ request }) => request),
    skipped: lines.length - wanted.length,
    incomplete: wanted.length - arrivals.length,
  }
}

function readRequest(line: Line, find: (id: string | number) => TraceBlock): TraceRequest {
  const list = line.fields.blocks === undefined && line.fields.top100 !== undefined ? 'top100' : 'blocks'
  const conversation = readName(line, 'conversation')
  const { front, rest } = line.fields
  const blocks = readNames(line, list)
  return {
    queryId: readName(line, 'query_id') ?? deriveId(line, conversation),
    query: readText(line, 'query') ?? readText(line, 'question'),
    conversation: conversation === undefined ? undefined : String(conversation),
    answers: readTexts(line, 'answers')?.map(String),
    tenant: readText(line, 'tenant') ?? defaultTenant,
    blocks: blocks.map(find),
    list: readList(line, blocks.length, find),
    around:
      front === undefined && rest === undefined
        ? undefined
        : { front: readNames(line, 'front').map(find), rest: readNames(line, 'rest').map(find) },
    route: readText(line, 'route'),
    reorder: readFlag(line, 'reorder'),
    request: readSentRequest(line, 'request'),
  }
}

/** Derives an id that is the same in every run. */
function deriveId(line: Line, conversation: string | number | undefined): string {
  const turn = readName(line, 'turn') ?? readName(line, 'q')
  return conversation === undefined || turn === undefined ? `line ${line.number}` : `${conversation}/${turn}`
}
