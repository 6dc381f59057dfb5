import { LRUCache } from 'lru-cache'
import { get_encoding, type Tiktoken } from 'tiktoken'

const cacheBytes = 64 << 20
// a map entry, a string header and a typed array's header
const entryBytes = 200

// an immutable table of 30 MB that takes 0.15 s to build: one serves all tokenizers, from the first text on
let table: Tiktoken | undefined
const encoding = (): Tiktoken => (table ??= get_encoding('o200k_base'))

/** tiktoken's o200k_base with a bounded cache: a distinct piece of text is not tokenised again while it is cached. */
export class Tokenizer {
  readonly #pieces = new LRUCache<string, Uint32Array>({
    maxSize: cacheBytes,
    sizeCalculation: (tokens, piece) => tokens.byteLength + piece.length * 2 + entryBytes,
  })

  /** Returns the tokens of a text. Names of special tokens are ordinary text, lone surrogates are U+FFFD. */
  tokensOf(text: string): Uint32Array {
    const tokens = new PromptTokens()
    this.encode(text, tokens)
    return tokens.toArray()
  }

  /** Adds the tokens of a text to a prompt. */
  encode(text: string, prompt: PromptTokens): void {
    for (const piece of splitText(text)) {
      if (prompt.overfull) return
      prompt.append(this.#pieces.get(piece) ?? this.#encodePiece(piece))
    }
  }

  /** The text of each token; a character of several tokens is in the last of them, a token of no text is empty. */
  decodeEach(tokens: ArrayLike<number>): string[] {
    const decoder = new TextDecoder()
    return Array.from(tokens, (token) => decoder.decode(bytesOf(token), { stream: true }))
  }

  #encodePiece(piece: string): Uint32Array {
    const tokens = encoding().encode_ordinary(piece)
    // a copied key: a slice would keep the whole text it was cut from alive
    this.#pieces.set(Buffer.from(piece, 'utf16le').toString('utf16le'), tokens)
    return tokens
  }
}

function bytesOf(token: number): Uint8Array {
  try {
    return encoding().decode_single_token_bytes(token)
  } catch {
    // marks between messages, attachments, and ids that a client made up
    return new Uint8Array()
  }
}

/** A growing prompt that ignores tokens once it is longer than `limit`, which bounds the work for a hostile prompt. */
export class PromptTokens {
  readonly #limit: number
  readonly #parts: ArrayLike<number>[] = []
  length = 0

  constructor(limit: number = Number.POSITIVE_INFINITY) {
    this.#limit = limit
  }

  /** Whether the prompt is longer than its limit; `length` is then a lower bound. */
  get overfull(): boolean {
    return this.length > this.#limit
  }

  append(tokens: ArrayLike<number>): void {
    if (this.overfull) return
    this.#parts.push(tokens)
    this.length += tokens.length
  }

  toArray(): Uint32Array {
    const all = new Uint32Array(this.length)
    let end = 0
    for (const part of this.#parts) {
      all.set(part, end)
      end += part.length
    }
    return all
  }
}

// a newline ends a pre-token unless whitespace or '/' follows; U+0085 is whitespace to Rust's regex, not to JavaScript's
const lineEnd = /(?<=\n)(?=[^\s\u0085/])/
// the rest of a line, or 512 characters of it: up to a space that follows a non-space, else up to any whole character
const pieceOfLine = /.{1,512}$|.{0,511}[^\s\u0085](?= )|.{1,512}(?<![\ud800-\udbff](?=[\udc00-\udfff]))/gs

/**
 * Cuts a text into pieces that, tokenised separately, yield the same tokens as the whole text, so that the lines of
 * repeated blocks are tokenised only once. Each cut is at a boundary that o200k_base's pre-tokeniser has in any
 * context: after such a newline and, in long lines, before a space that follows a non-space.
 *
 * Only a stretch of 512 characters without such a space (base64, Chinese) is cut regardless, which may cost a token:
 * BPE takes quadratic time within a pre-token, 2 s for 64,000 equal letters; with these cuts, 0.4 s per megabyte.
 */
export function splitText(text: string): string[] {
  return text.split(lineEnd).flatMap((line) => line.match(pieceOfLine) ?? [])
}
