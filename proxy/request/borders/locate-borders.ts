import { countUpTo } from '#index/count-up-to.ts'
import type { ReusedContext } from '../../reuse/reused-prompt.ts'

/** Enough of a block to tell it from others. */
const longestNeedle = 256

/**
 * Returns how many of a prompt's tokens lie before the first block of a context, and before the end of each: of the
 * content, so that what closes a block counts as behind it. Undefined for blocks whose text is not found before that of
 * the next one, because the chat template changes it. Never more than prompts share that part there.
 */
export function locateBlocks(
  tokens: readonly string[],
  { found, order, pointers }: Pick<ReusedContext, 'found' | 'order' | 'pointers'>,
  texts: readonly string[],
): { readonly start: number | undefined; readonly ends: readonly (number | undefined)[] } {
  const { bytes, ends } = toTokenBytes(tokens)
  const cut = new Set(pointers.map(({ place }) => place))
  let before = bytes.length
  let first: number | undefined
  // from the end, because a context may repeat what earlier turns quote
  const located = order.toReversed().map((from, i) => {
    const { text, content } = found.slots[from]!
    const own = Buffer.from(texts[text]!.slice(content.start, content.end))
    const needle = own.subarray(Math.max(0, own.length - longestNeedle))
    const at = cut.has(order.length - 1 - i) ? -1 : bytes.lastIndexOf(needle, before - needle.length)
    first = at < 0 ? undefined : at + needle.length - own.length
    if (first === undefined) return undefined
    before = Math.max(0, first)
    return countUpTo(ends, at + needle.length)
  })
  // labels and tags in front of a block may move with it
  const heads = found.slots.map(({ text, start, content }) =>
    Buffer.byteLength(texts[text]!.slice(start, content.start)),
  )
  const start = first === undefined ? undefined : countUpTo(ends, first - Math.max(...heads))
  return { start, ends: located.reverse() }
}

/** A prompt's tokens as the bytes they stand for. */
interface TokenBytes {
  readonly bytes: Buffer
  /** where each token ends */
  readonly ends: readonly number[]
}

const printableBytes = 188
/** GPT-2's alphabet, which byte-level tokenizers write bytes in: printable ones as themselves, the others from U+0100 on. */
const byteOf: ReadonlyMap<string, number> = new Map(
  Array.from({ length: 256 }, (_, byte) => byte)
    .sort((a, b) => Number(isPrintable(b)) - Number(isPrintable(a)) || a - b)
    .map((byte, i) => [String.fromCodePoint(isPrintable(byte) ? byte : 0x100 + i - printableBytes), byte]),
)
const byteToken = /^<0x([0-9A-F]{2})>$/

/**
 * Converts tokens as a vocabulary writes them: byte-level (Llama 3, Qwen, gpt-oss), or SentencePiece (Gemma), in which
 * `▁` is a space and `<0x0A>` a byte. Special tokens are their names.
 */
export function toTokenBytes(tokens: readonly string[]): TokenBytes {
  const toBytes = tokens.some((token) => /[ĠĊ]/.test(token)) ? fromByteLevel : fromSentencePiece
  let length = 0
  const parts = tokens.map(toBytes)
  const ends = parts.map((part) => {
    length += part.length
    return length
  })
  return { bytes: Buffer.concat(parts), ends }
}

function fromByteLevel(token: string): Buffer {
  const bytes = Array.from(token, (character) => byteOf.get(character))
  return bytes.includes(undefined) ? Buffer.from(token) : Buffer.from(bytes as number[])
}

function fromSentencePiece(token: string): Buffer {
  const [, byte] = byteToken.exec(token) ?? []
  return byte === undefined ? Buffer.from(token.replaceAll('▁', ' ')) : Buffer.from(byte, 'hex')
}

function isPrintable(byte: number): boolean {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae
}
