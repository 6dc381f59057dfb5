import { type RadixNode, RadixTree } from '#emulator/cache/radix-tree.ts'
import { TraceBlock } from './trace-block.ts'

/** Splits prompts wherever two of them diverge. Equal blocks then mean equal prefixes, and nothing longer is shared. */
export function splitAtPrefixes(prompts: readonly Uint32Array[]): TraceBlock[][] {
  const tree = new RadixTree(1)
  const ends = prompts.map((tokens) => addPrompt(tree, tokens))
  const blocks = new Map<RadixNode, TraceBlock>()
  return ends.map((end) => {
    const context: TraceBlock[] = []
    for (let node = end; node.parent; node = node.parent) {
      const block = blocks.get(node) ?? new TraceBlock(blocks.size, { tokens: node.key.length })
      blocks.set(node, block)
      context.push(block)
    }
    return context.reverse()
  })
}

/** Returns the node where the prompt ends. It stays valid, because later splits insert their nodes before it. */
function addPrompt(tree: RadixTree, tokens: Uint32Array): RadixNode {
  const { node, shared } = tree.walk('', tokens, tokens.length)
  const found = shared < node.key.length ? tree.split(node, shared) : node
  return found.tokens < tokens.length ? tree.extend(found, tokens, tokens.length) : found
}
