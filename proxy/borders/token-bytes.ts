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
