import type { SentPrompt } from '#index/cache-event.ts'
import { type BlockId, digestOf, type RequestId, toBlockId } from '#index/context-block.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { createDraw } from './draw-contexts.ts'

/** `zipf`: a few blocks are in many prompts, as in retrieval; `apart`: no two prompts share a block. */
export type Sharing = 'zipf' | 'apart'

const blocksPerPrompt = 15
const charactersPerBlock = 2_000
/** Distinct blocks to draw from, per hundred prompts. */
const blocksPerHundred = 10
const scope = digestOf('You answer from the documents.')

/** Creates prompts of 15 blocks as a proxy sends them: ordered by the mirror, with ids as long as a proxy's. */
export function createPrompts(
  mirror: CacheMirror,
  requests: number,
  sharing: Sharing,
): (number: number) => { request: RequestId; prompt: SentPrompt } {
  const draw = createDraw({
    blocks: Math.max(1_000, (requests * blocksPerHundred) / 100),
    blocksPerContext: blocksPerPrompt,
  })
  const sizes = new Array<number>(blocksPerPrompt).fill(charactersPerBlock)
  const apart = (number: number): BlockId[] => sizes.map((_, i) => toBlockId(`${number} ${i}`))
  return (number) => {
    const context = sharing === 'zipf' ? draw() : apart(number)
    const order = mirror.order(scope, context, sizes)?.order ?? sizes.map((_, i) => i)
    return {
      request: toPromptId(number),
      prompt: toPrompt(
        order.map((place) => context[place]!),
        sizes,
      ),
    }
  }
}

function toPrompt(blocks: readonly BlockId[], sizes: readonly number[]): SentPrompt {
  let last = scope
  const prefixes = blocks.map((block) => {
    last = digestOf(last + block)
    return last
  })
  const ends = blocks.map((_, i) => 1_000 + (i + 1) * (charactersPerBlock + 20))
  return {
    contexts: [{ scope, blocks, sizes, ends }],
    prefixes: [scope, ...prefixes],
    ends: [1_000, ...ends],
    length: 1_000 + blocks.length * (charactersPerBlock + 20) + 200,
  }
}

/** Makes an id in vLLM's form for a chat request of the proxy. */
function toPromptId(number: number): RequestId {
  return `chatcmpl-00000000-0000-4000-8000-${String(number).padStart(12, '0')}` as RequestId
}
