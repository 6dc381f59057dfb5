import { createParser } from 'eventsource-parser'
import { type PageUsage, readPageUsage, sumOfPages } from './page-usage.ts'
import { readEngineError } from './read-error.ts'

/** What an engine says it did for a request. */
export interface Usage {
  readonly promptTokens: number
  /** undefined when the engine does not report it */
  readonly cachedTokens: number | undefined
  /** taken over from another position, and not computed again; undefined when the engine does no such thing */
  readonly reusedTokens: number | undefined
  /** of the answer's steps; undefined when they read their whole context, or the engine does not tell */
  readonly pages?: PageUsage | undefined
  readonly completionTokens: number | undefined
}

/** Usage stands in the last events of a stream; this much of its end is kept. */
const streamTail = 16 * 1024
/** SGLang's Messages tell of the prompt in the first event alone, as a refused `/generate` tells its error there. */
const streamHead = 4 * 1024
/** A longer answer that is not streamed is not searched for usage. */
const longestBody = 4 * 1024 * 1024

/** Watches an answer go by and finds the usage in it. Costs a push per chunk; nothing is parsed before the end. */
export class UsageReader {
  readonly #isStream: boolean
  readonly #head: Buffer[] = []
  readonly #chunks: Buffer[] = []
  #headKept = 0
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
      this.#keepHead(chunk)
      while (this.#kept - this.#chunks[0]!.length >= streamTail) this.#kept -= this.#chunks.shift()!.length
    } else if (this.#kept > longestBody) {
      this.#isTooLong = true
      this.#chunks.length = 0
    }
  }

  /** The usage of the answer, once it is whole; undefined when it holds none. */
  read(): Usage | undefined {
    const text = Buffer.concat(this.#chunks).toString()
    if (!this.#isStream) return readUsage(text)
    const head = Buffer.concat(this.#head).toString()
    const usage = Object.assign({}, readEvents(head), readEvents(text) ?? readCutUsage(text))
    return isWhole(usage) ? usage : undefined
  }

  /** Whether a stream that began with success holds nothing but an error: the engine has not run the request. */
  get isRefusal(): boolean {
    if (!this.#isStream) return false
    const [first] = eventsOf(Buffer.concat(this.#head).toString())
    return first !== undefined && first !== streamEnd && readEngineError(first) !== undefined
  }

  #keepHead(chunk: Buffer): void {
    if (this.#headKept >= streamHead) return
    const kept = chunk.subarray(0, streamHead - this.#headKept)
    this.#head.push(kept)
    this.#headKept += kept.length
  }
}

const streamEnd = '[DONE]'

function eventsOf(stream: string): string[] {
  const events: string[] = []
  createParser({ onEvent: ({ data }) => events.push(data) }).feed(stream)
  return events
}

/** What the events of a stream tell together: each may tell a part, and the later ones know more. */
function readEvents(stream: string): Partial<Usage> | undefined {
  let usage: Partial<Usage> | undefined
  for (const data of eventsOf(stream)) {
    const found = /"(?:usage|meta_info)"/.test(data) ? readParts(data) : undefined
    if (found) usage = Object.assign(usage ?? {}, found)
  }
  return usage
}

/** The last event of a stream may be longer than what is kept of it: responses repeat the whole answer in it. */
function readCutUsage(stream: string): Partial<Usage> | undefined {
  const [last] = [...stream.matchAll(/"usage":\s?\{(?:[^{}]|\{[^{}]*\})*\}/g)].slice(-1)
  return last && readParts(`{${last[0]}}`)
}

type Json = Record<string, unknown>

function readUsage(json: string): Usage | undefined {
  const parts = readParts(json)
  return isWhole(parts) ? parts : undefined
}

function isWhole(parts: Partial<Usage> | undefined): parts is Usage {
  return parts?.promptTokens !== undefined
}

function readParts(json: string): Partial<Usage> | undefined {
  let answer: Json | Json[]
  try {
    answer = JSON.parse(json)
  } catch {
    // the engine's answer is passed on whatever it is; only its usage stays unknown
    return undefined
  }
  if (Array.isArray(answer)) return sumOf(answer.map(readOne))
  return readOne(answer)
}

/** The usage of one answer: OpenAI's and Anthropic's `usage`, in streams also of the answer within; SGLang's meta_info. */
function readOne(answer: Json | null): Partial<Usage> | undefined {
  const inner = toObject(answer?.response) ?? toObject(answer?.message)
  const usage = toObject(answer?.usage) ?? toObject(inner?.usage) ?? toObject(answer?.meta_info)
  if (!usage) return undefined
  const total = toCount(usage.prompt_tokens)
  const input = toCount(usage.input_tokens)
  const details = toObject(usage.prompt_tokens_details) ?? toObject(usage.input_tokens_details) ?? usage
  const cached = toCount(details.cached_tokens) ?? toCount(usage.cache_read_input_tokens)
  // Anthropic's input tokens are those that were neither read from the cache nor written to it
  const apart = (toCount(usage.cache_read_input_tokens) ?? 0) + (toCount(usage.cache_creation_input_tokens) ?? 0)
  const prompt = total ?? (input === undefined ? undefined : input + apart)
  const completion = toCount(usage.completion_tokens) ?? toCount(usage.output_tokens)
  // of a prompt that is told of, all is told; an event without one adds to what is known
  if (prompt !== undefined) {
    const [reusedTokens, pages] = [toCount(details.reused_tokens), readPageUsage(details)]
    const told = { promptTokens: prompt, cachedTokens: cached, reusedTokens, completionTokens: completion }
    return pages ? { ...told, pages } : told
  }
  return completion === undefined ? {} : { completionTokens: completion }
}

/** The usage of several prompts that were sent as one. */
function sumOf(usages: readonly (Partial<Usage> | undefined)[]): Usage | undefined {
  if (usages.length === 0 || !usages.every(isWhole)) return undefined
  return usages.reduce((sum, usage) => ({
    promptTokens: sum.promptTokens + usage.promptTokens,
    cachedTokens: add(sum.cachedTokens, usage.cachedTokens),
    reusedTokens: add(sum.reusedTokens, usage.reusedTokens),
    completionTokens: add(sum.completionTokens, usage.completionTokens),
    pages: sum.pages && usage.pages && sumOfPages(sum.pages, usage.pages),
  }))
}

function add(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a + b
}

function toObject(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined
}

function toCount(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
