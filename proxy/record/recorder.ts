import { createHash, randomBytes } from 'node:crypto'
import type { TwoWorlds } from '../gain/two-worlds.ts'
import type { Span } from '../json/json-spans.ts'
import type { Call, RoutedCall } from '../request/call/call.ts'
import type { ReusedContext } from '../reuse/reused-prompt.ts'
import { cutPrompt, type PromptPieces } from './recorded-request.ts'
import { TraceWriter, type TraceWriterOptions } from './trace-writer.ts'

/** What an engine reported about a request. */
interface RecordedUsage {
  readonly promptTokens: number
  readonly cachedTokens: number | undefined
}

export interface RecorderOptions extends TraceWriterOptions {
  /** whether texts are written; otherwise keyed digests, which nobody can compare with those of their own texts */
  readonly hasText: boolean
}

/** A prompt in pieces. */
interface RecordedPrompt {
  readonly ids: readonly string[]
  /** in characters, including the markup of a block */
  readonly lengths: readonly number[]
  /** undefined: none are written */
  readonly texts: readonly string[] | undefined
  readonly blocks: Span
}

/** A request that is being recorded. */
export interface Recording {
  /** Call when the engine has counted the request. */
  used(usage: RecordedUsage): void
  /** Call when the request is over; what the engine has not counted is estimated. `wasRun`: the engine has seen it. */
  ended(wasRun: boolean): void
}

/** Records passing requests as a trace, without delaying them. */
export class Recorder {
  readonly #options: RecorderOptions
  readonly #writer: TraceWriter
  /** new with every start, and written nowhere */
  readonly #secret = randomBytes(16)
  readonly #begun: number
  #count = 0

  /** Throws if the folder is not writable. */
  constructor(options: RecorderOptions) {
    this.#options = options
    this.#begun = options.now()
    this.#writer = new TraceWriter(options)
  }

  /** Number of requests that could not be written. */
  get lost(): number {
    return this.#writer.lost
  }

  /** Records a request that goes to an engine now; returns undefined if its prompt could not be read. */
  follow({ decision }: RoutedCall, { caller, conversation }: Call): Recording | undefined {
    const { worlds, contexts } = decision
    if (!worlds || worlds.prompts.length === 0) return undefined
    const arrival = (this.#options.now() - this.#begun) / 1_000
    const number = this.#count++
    let usage: RecordedUsage = { promptTokens: decision.promptTokens, cachedTokens: undefined }
    const cut = this.#cutSoon(worlds, contexts)
    const write = (): void => {
      const characters = cut.flatMap(({ lengths }) => lengths).reduce((sum, length) => sum + length, 0)
      const isOne = cut.length === 1
      for (const [i, prompt] of cut.entries()) {
        const named = {
          query_id: isOne ? number : `${number}/${i}`,
          arrival,
          tenant: this.#hash(caller.tenant),
          ...(conversation === undefined ? {} : { conversation: this.#hash(conversation) }),
          ...(isOne ? { tokens: usage.promptTokens, cached_tokens: usage.cachedTokens } : {}),
        }
        this.#write(named, prompt, usage.promptTokens / characters)
      }
    }
    return {
      used: (reported) => {
        usage = reported
      },
      ended: (wasRun) => {
        if (wasRun) setImmediate(write)
      },
    }
  }

  /** Writes what is left, and ends. */
  close(): Promise<void> {
    return this.#writer.close()
  }

  /** Cuts the prompts once the request is on its way, so that its texts are not kept while its answer runs. */
  #cutSoon({ texts, prompts }: TwoWorlds, contexts: readonly ReusedContext[]): RecordedPrompt[] {
    const cut: RecordedPrompt[] = []
    setImmediate(() => {
      const founds = contexts.map(({ found }) => found)
      for (const places of prompts) cut.push(this.#cut(texts, cutPrompt(texts, places, founds)))
    })
    return cut
  }

  #cut(texts: readonly string[], { front, blocks, rest }: PromptPieces): RecordedPrompt {
    const pieces = [...front, ...blocks, ...rest]
    const own = pieces.map(({ text, start, end, content = { start, end } }) =>
      texts[text]!.slice(content.start, content.end),
    )
    return {
      ids: own.map((text) => this.#hash(text)),
      lengths: pieces.map(({ start, end }) => end - start),
      texts: this.#options.hasText ? own : undefined,
      blocks: { start: front.length, end: front.length + blocks.length },
    }
  }

  #write(named: object, { ids, lengths, texts, blocks }: RecordedPrompt, tokensPerCharacter: number): void {
    const { start, end } = blocks
    const request = { ...named, blocks: ids.slice(start, end), front: ids.slice(0, start), rest: ids.slice(end) }
    this.#writer.write(request, ids, (at) =>
      texts ? { text: texts[at] } : { tokens: Math.max(1, Math.round(lengths[at]! * tokensPerCharacter)) },
    )
  }

  #hash(text: string): string {
    return createHash('sha256').update(this.#secret).update(text).digest('base64url').slice(0, 22)
  }
}
