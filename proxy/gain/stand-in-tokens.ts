import type { PromptPart } from '../reuse/two-worlds.ts'
import { hashOf, mix } from './mix.ts'

/** Characters that one number stands for: about the 16 tokens of a page. */
export const standInCharacters = 64

const basis = 0x811c9dc5

/** Texts are copied here in parts: read from a string, two units at a time, a long one takes four times as long. */
const scratchUnits = 64 * standInCharacters
const scratch = Buffer.alloc(2 * scratchUnits + 4)
const scratchPairs = new Int32Array(scratch.buffer, scratch.byteOffset, scratch.length >> 2)

/**
 * Returns numbers that stand for a prompt whose tokens in the engine are not known: one for every 64 UTF-16 units of
 * each block, by the block's identity, and of the text between two blocks, by what is in it. So prompts share as many
 * leading numbers as they share whole blocks and, outside of them, characters.
 */
export function toStandIns(parts: readonly PromptPart[]): Uint32Array {
  // each part and each text between blocks may end in less than a whole number's worth
  const most = parts.reduce((sum, { text }) => sum + Math.ceil(text.length / standInCharacters), 0)
  const standIns = new Uint32Array(most)
  let count = 0
  let between = ''
  for (const { text, block } of parts) {
    if (block === undefined) {
      between += text
      continue
    }
    count = addText(standIns, count, between)
    between = ''
    const identity = hashOf(block, basis)
    for (let i = 0; i * standInCharacters < text.length; i++) standIns[count++] = mix(identity, i)
  }
  return standIns.subarray(0, addText(standIns, count, between))
}

/** Adds the numbers of a text after the first `count` and returns how many there are then. */
function addText(standIns: Uint32Array, count: number, text: string): number {
  let added = count
  for (let at = 0; at < text.length; at += scratchUnits) {
    const bytes = scratch.write(text.slice(at, at + scratchUnits), 'utf16le')
    // the last unit may have no other one
    scratch.writeUInt16LE(0, bytes)
    const pairs = (bytes + 2) >> 2
    for (let i = 0; i < pairs; ) {
      let hash = basis
      const end = Math.min(pairs, i + standInCharacters / 2)
      while (i < end) hash = mix(hash, scratchPairs[i++]!)
      standIns[added++] = hash
    }
  }
  return added
}
