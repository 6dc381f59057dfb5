import { ReplayError } from '../replay-error.ts'
import { readCount, readNames } from './read-fields.ts'
import type { Line } from './read-json-lines.ts'
import { defaultTenant, type TraceRequest } from './trace.ts'
import { TraceBlock } from './trace-block.ts'

const blockTokens = 512

/**
 * Reads the lines of a trace of prefix blocks (`hash_ids`; equal ids mean equal prefixes). Every block has 512 tokens,
 * except that the last one has the rest of the prompt's `input_length`.
 */
export function readPrefixes(lines: readonly Line[]): TraceRequest[] {
  const blocks = new Map<string | number, TraceBlock>()
  return lines.map((line) => {
    const length = readCount(line, 'input_length')
    const ids = readNames(line, 'hash_ids')
    if (ids.length !== Math.ceil(length / blockTokens)) {
      throw new ReplayError(`${line.where}: ${ids.length} "hash_ids" do not fit an "input_length" of ${length}`)
    }
    const context = ids.map((id, at) => {
      const tokens = Math.min(blockTokens, length - at * blockTokens)
      const block = blocks.get(id) ?? new TraceBlock(id, { tokens })
      if (block.tokens !== tokens) throw new ReplayError(`${line.where}: block ${id} had another length before`)
      blocks.set(id, block)
      return block
    })
    return {
      queryId: `line ${line.number}`,
      query: undefined,
      conversation: undefined,
      tenant: defaultTenant,
      blocks: context,
      fixed: true,
    }
  })
}
