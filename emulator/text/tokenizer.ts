import { LRUCache } from 'lru-cache'
import { get_encoding, type Tiktoken } from 'tiktoken'
import type { PromptTokens } from './prompt-tokens.ts'
import { splitText } from './split-text.ts'

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

  /** Adds the tokens of `text` to `prompt`. Names of special tokens are ordinary text, lone surrogates are U+FFFD. */
  encode(text: string, prompt: PromptTokens): void {
    for (const piece of splitText(text)) {
      if (prompt.overfull) return
      prompt.append(this.#pieces.get(piece) ?? this.#encodePiece(piece))
    }
  }

  /** The text of each token; a character of several tokens is in the last of them, a token of no text is empty. */
  decodeEach(tokens: readonly number[]): string[] {
    const decoder = new TextDecoder()
    return tokens.map((token) => decoder.decode(this.#bytesOf(token), { stream: true }))
  }

  #bytesOf(token: number): Uint8Array {
    try {
      return encoding().decode_single_token_bytes(token)
    } catch {
      // marks between messages, attachments, and ids that a client made up
      return new Uint8Array()
    }
  }

  #encodePiece(piece: string): Uint32Array {
    const tokens = encoding().encode_ordinary(piece)
    // a copied key: a slice would keep the whole text it was cut from alive
    this.#pieces.set(Buffer.from(piece, 'utf16le').toString('utf16le'), tokens)
    return tokens
  }
}
