import type { PromptPart } from '../reuse/prompt-parts.ts'
import { hashOf, mix } from './mix.ts'
import { TextPacker } from './text-packer.ts'

/** Characters that one number stands for: about four tokens of English. */
export const standInCharacters = 16

const wordsEach = standInCharacters / 2
const basis = 0x811c9dc5
const packer = new TextPacker()

/**
 * Returns numbers that stand for a prompt whose tokens in the engine are not known: one for every 16 UTF-16 units of
 * each block, by the block's identity, and of the text between two blocks, by what is in it. So prompts share as many
 * leading numbers as they share whole blocks and, outside of them, characters.
 */
export function toStandIns(parts: readonly PromptPart[]): Uint32Array {
  const standIns: number[] = []
  let between: string[] = []
  for (const { text, block } of parts) {
    if (block === undefined) {
      between.push(text)
      continue
    }
    addText(standIns, between)
    between = []
    addBlock(standIns, block, Math.ceil(text.length / standInCharacters))
  }
  addText(standIns, between)
  return Uint32Array.from(standIns)
}

function addBlock(standIns: number[], block: string, count: number): void {
  const identity = hashOf(block, basis)
  for (let i = 0; i < count; i++) standIns.push(mix(identity, i))
}

function addText(standIns: number[], texts: readonly string[]): void {
  if (texts.length === 0) return
  const words = packer.pack(texts, 0)
  for (let i = 0; i < words.length; ) {
    let hash = basis
    for (const end = Math.min(words.length, i + wordsEach); i < end; i++) hash = mix(hash, words[i]!)
    standIns.push(hash)
  }
}
