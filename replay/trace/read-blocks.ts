import type { BlockId } from '#index/context-block.ts'
import { ReplayError } from '../replay-error.ts'
import { readCount, readName, readText } from './read-fields.ts'
import type { Line } from './read-json-lines.ts'
import { TraceBlock } from './trace-block.ts'

/** Reads the lines of a blocks file. Unless `isStrict`, a block with neither text nor tokens counts as one token. */
export function readBlocks(lines: readonly Line[], isStrict: boolean): Map<BlockId, TraceBlock> {
  const blocks = new Map<BlockId, TraceBlock>()
  for (const line of lines) {
    const block = readBlock(line, isStrict)
    const known = blocks.get(block.key)
    if (known && (known.text !== block.text || (block.text === undefined && known.tokens !== block.tokens))) {
      throw new ReplayError(`${line.where}: block ${block.key} was given before, with another content`)
    }
    if (!known) blocks.set(block.key, block)
  }
  return blocks
}

function readBlock(line: Line, isStrict: boolean): TraceBlock {
  const id = readName(line, 'id')
  if (id === undefined) throw new ReplayError(`${line.where}: a block needs an "id", a string or a number`)
  const text = readText(line, 'text')
  if (text !== undefined) return new TraceBlock(id, { text })
  if (line.fields.tokens !== undefined) return new TraceBlock(id, { tokens: readCount(line, 'tokens') })
  if (!isStrict) return new TraceBlock(id, { tokens: 1 })
  throw new ReplayError(`${line.where}: block ${JSON.stringify(id)} has neither "text" nor "tokens"`)
}
