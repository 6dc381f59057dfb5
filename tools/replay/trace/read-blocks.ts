import type { BlockId } from '#index/context-block.ts'
import { ConfigError } from '#proxy/common/errors.ts'
import { readCount, readName, readStretches, readText } from './read-fields.ts'
import type { Line } from './read-json-lines.ts'
import { TraceBlock } from './trace-block.ts'

/** How strictly blocks are read. */
interface Strictness {
  /** a block with neither text nor tokens is an error; otherwise it counts as one token */
  readonly needsSizes: boolean
  /** if a block is given twice, the first size counts: recorders estimate it again after a disk failure */
  readonly isDamaged: boolean
}

export function readBlocks(lines: readonly Line[], { needsSizes, isDamaged }: Strictness): Map<BlockId, TraceBlock> {
  const blocks = new Map<BlockId, TraceBlock>()
  for (const line of lines) {
    const block = readBlock(line, needsSizes)
    const known = blocks.get(block.key)
    if (
      known &&
      !isDamaged &&
      (known.text !== block.text || (block.text === undefined && known.tokens !== block.tokens))
    ) {
      throw new ConfigError(`${line.where}: block ${block.key} was given before, with another content`)
    }
    if (!known) blocks.set(block.key, block)
  }
  return blocks
}

function readBlock(line: Line, needsSizes: boolean): TraceBlock {
  const id = readName(line, 'id')
  if (id === undefined) throw new ConfigError(`${line.where}: a block needs an "id", a string or a number`)
  const text = readText(line, 'text')
  const { tokens, characters } = line.fields
  if (text !== undefined || tokens !== undefined) {
    return new TraceBlock(id, {
      text,
      tokens: tokens === undefined ? undefined : readCount(line, 'tokens'),
      characters: characters === undefined ? undefined : readCount(line, 'characters'),
      stretches: readStretches(line, 'stretches')?.map(([key, characters]) => ({ key, characters })),
    })
  }
  if (!needsSizes) return new TraceBlock(id, { tokens: 1 })
  throw new ConfigError(`${line.where}: block ${JSON.stringify(id)} has neither "text" nor "tokens"`)
}
