import { mix } from './mix.ts'
import { TextPacker } from './text-packer.ts'

/** Characters that one number stands for: about four tokens of English. */
export const standInCharacters = 16

const wordsEach = standInCharacters / 2
const basis = 0x811c9dc5
const packer = new TextPacker()

/**
 * Returns numbers that stand for a prompt whose tokens in the engine are not known: one for every 16 UTF-16 units of
 * its texts in order, so that prompts share as many leading numbers as they share characters. 240,000 characters take
 * 0.2 ms.
 */
export function toStandIns(texts: readonly string[]): Uint32Array {
  const words = packer.pack(texts, 0)
  const standIns = new Uint32Array(Math.ceil(words.length / wordsEach))
  for (let at = 0, i = 0; at < standIns.length; at++) {
    let hash = basis
    for (const end = Math.min(words.length, i + wordsEach); i < end; i++) hash = mix(hash, words[i]!)
    standIns[at] = hash
  }
  return standIns
}
