import { createParser } from 'eventsource-parser'

/** What an engine says it did for a request. */
export interface Usage {
  readonly promptTokens: number
  /** undefined when the engine does not report it */
  readonly cachedTokens: number | undefined
}

/** Usage stands in the last events of a stream; this much of its end is kept. */
const streamTail = 16 * 1024
/** A longer answer that is not streamed is not searched for usage. */
const longestBody = 4 * 1024 * 1024

/** Watches an answer go by and finds the usage in it. Costs a push per chunk; nothing is parsed before the end. */
export class UsageReader {
  readonly #isStream: boolean
  readonly #chunks: Buffer[] = []
  #kept = 0
  #isTooLong = false

  constructor(contentType: string) {
    this.#isStream = contentType.startsWith('text/event-stream')
  }

  push(chunk: Buffer): void {
    if (this.#isTooLong) return
    this.#chunks.push(chunk)
    this.#kept += chunk.length
    if (this.#isStream) {
      while (this.#kept - this.#chunks[0]!.length >= streamTail) this.#kept -= this.#chunks.shift()!.length
    } else if (this.#kept > longestBody) {
      this.#isTooLong = true
      this.#chunks.length = 0
    }
  }

  /** The usage of the answer, once it is whole; undefined when it holds none. */
  read(): Usage | undefined {
    const text = Buffer.concat(this.#chunks).toString()
    return this.#isStream ? readLastUsage(text) : readUsage(text)
  }
}

function readLastUsage(stream: string): Usage | undefined {
  let usage: Usage | undefined
  const parser = createParser({
    onEvent: ({ data }) => {
      usage = data.includes('"usage"') ? (readUsage(data) ?? usage) : usage
    },
  })
  parser.feed(stream)
  return usage
}

function readUsage(json: string): Usage | undefined {
  let usage: { prompt_tokens?: unknown; prompt_tokens_details?: { cached_tokens?: unknown } | null } | undefined
  try {
    usage = JSON.parse(json)?.usage
  } catch {
    // the engine's answer is passed on whatever it is; only its usage stays unknown
    return undefined
  }
  if (typeof usage?.prompt_tokens !== 'number') return undefined
  const cached = usage.prompt_tokens_details?.cached_tokens
  return { promptTokens: usage.prompt_tokens, cachedTokens: typeof cached === 'number' ? cached : undefined }
}
