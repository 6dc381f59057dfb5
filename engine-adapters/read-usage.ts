import { createParser } from 'eventsource-parser'
import { isCount, isObject, type Json, tryJson } from './json-object.ts'
import { readEngineError } from './read-error.ts'

/** Pages of its context that a vLLM with page selection read while decoding, summed over the steps of an answer. */
export interface PageUsage {
  readonly listed: number
  /** pages of the whole context; equal to `listed` if every step read all of it */
  readonly all: number
  /** how often pages were chosen; `backtracks`: how often because the model was uncertain */
  readonly choices: number
  readonly backtracks: number
}

/** What an engine reports it did for a request. */
export interface Usage {
  readonly promptTokens: number
  /** undefined if the engine does not report it */
  readonly cachedTokens: number | undefined
  /** reused from another position without being recomputed; undefined if the engine never does that */
  readonly reusedTokens: number | undefined
  /** found at another position and recomputed; undefined if the engine does not report it */
  readonly recomputedTokens?: number | undefined
  /** for the answer's steps; undefined if they read their whole context, or the engine does not report it */
  readonly pages?: PageUsage | undefined
  readonly completionTokens: number | undefined
}

/** Usage is in the last events of a stream; this many bytes of its end are kept. */
const streamTail = 16 * 1024
/** SGLang's Messages report the prompt's usage only in the first event; a refused `/generate` has its error there. */
const streamHead = 4 * 1024
/** An answer longer than this that is not streamed is not searched for usage. */
const longestBody = 4 * 1024 * 1024

/** Finds the usage in an answer as it passes through. Costs a push per chunk; nothing is parsed before the end. */
export class UsageReader {
  readonly #isStream: boolean
  #head: Buffer = Buffer.alloc(0)
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
      const room = streamHead - this.#head.length
      if (room > 0) this.#head = Buffer.concat([this.#head, chunk.subarray(0, room)])
      while (this.#kept - this.#chunks[0]!.length >= streamTail) this.#kept -= this.#chunks.shift()!.length
    } else if (this.#kept > longestBody) {
      this.#isTooLong = true
      this.#chunks.length = 0
    }
  }

  /** The usage of the answer, once it is complete; undefined if it has none. */
  read(): Usage | undefined {
    const text = Buffer.concat(this.#chunks).toString()
    if (!this.#isStream) return readUsage(text)
    const usage = Object.assign({}, readEvents(this.#head.toString()), readEvents(text) ?? readCutUsage(text))
    return isWhole(usage) ? usage : undefined
  }

  /** Whether a stream with a success status begins with an error: the engine has not run the request. */
  get isRefusal(): boolean {
    if (!this.#isStream) return false
    const [first] = eventsOf(this.#head.toString())
    return first !== undefined && first !== streamEnd && readEngineError(first) !== undefined
  }
}

const streamEnd = '[DONE]'

/** The data of each event of a stream of server-sent events that is over. */
export function eventsOf(stream: string): string[] {
  const events: string[] = []
  createParser({ onEvent: ({ data }) => events.push(data) }).feed(stream)
  return events
}

function readEvents(stream: string): Partial<Usage> | undefined {
  let usage: Partial<Usage> | undefined
  for (const data of eventsOf(stream)) {
    const found = /"(?:usage|meta_info)"/.test(data) ? readParts(data) : undefined
    if (found) usage = Object.assign(usage ?? {}, found)
  }
  return usage
}

/** Finds usage in a cut-off last event: Responses repeat the whole answer in it, so it may exceed the kept bytes. */
function readCutUsage(stream: string): Partial<Usage> | undefined {
  const [last] = [...stream.matchAll(/"usage":\s?\{(?:[^{}]|\{[^{}]*\})*\}/g)].slice(-1)
  return last && readParts(`{${last[0]}}`)
}

/** The usage in a whole answer; undefined if it has none. */
export function readUsage(json: string): Usage | undefined {
  const parts = readParts(json)
  return isWhole(parts) ? parts : undefined
}

function isWhole(parts: Partial<Usage> | undefined): parts is Usage {
  return parts?.promptTokens !== undefined
}

function readParts(json: string): Partial<Usage> | undefined {
  // of an answer that is not JSON only the usage stays unknown: it is passed on regardless
  const answer = tryJson(json) as Json | Json[] | null | undefined
  return Array.isArray(answer) ? sumOf(answer.map(readOne)) : readOne(answer)
}

/** Reads the usage of one answer: OpenAI's and Anthropic's `usage`, in streams also nested; SGLang's `meta_info`. */
function readOne(answer: Json | null | undefined): Partial<Usage> | undefined {
  const inner = toObject(answer?.response) ?? toObject(answer?.message)
  const usage = toObject(answer?.usage) ?? toObject(inner?.usage) ?? toObject(answer?.meta_info)
  if (!usage) return undefined
  const total = toCount(usage.prompt_tokens)
  const input = toCount(usage.input_tokens)
  const details = toObject(usage.prompt_tokens_details) ?? toObject(usage.input_tokens_details) ?? usage
  const cached = toCount(details.cached_tokens) ?? toCount(usage.cache_read_input_tokens)
  // in SGLang's own answers
  const reuse = toObject(usage.cached_tokens_details) ?? details
  // Anthropic's input tokens exclude those read from the cache or written to it
  const apart = (toCount(usage.cache_read_input_tokens) ?? 0) + (toCount(usage.cache_creation_input_tokens) ?? 0)
  const prompt = total ?? (input === undefined ? undefined : input + apart)
  const completion = toCount(usage.completion_tokens) ?? toCount(usage.output_tokens)
  // an event that reports the prompt reports everything; any other only adds the completion
  if (prompt !== undefined) {
    return {
      promptTokens: prompt,
      cachedTokens: cached,
      reusedTokens: toCount(reuse.reused_tokens),
      recomputedTokens: toCount(reuse.recomputed_tokens),
      completionTokens: completion,
      pages: readPageUsage(details),
    }
  }
  return completion === undefined ? {} : { completionTokens: completion }
}

/** Reads the details of usage; undefined if a count is missing or the counts are impossible. */
export function readPageUsage(details: Readonly<Record<string, unknown>>): PageUsage | undefined {
  const { listed_pages: listed, all_pages: all, page_choices: choices, page_backtracks: backtracks } = details
  if (!isCount(listed) || !isCount(all) || !isCount(choices) || !isCount(backtracks)) return undefined
  return listed <= all && backtracks <= choices ? { listed, all, choices, backtracks } : undefined
}

export function sumOfPages(a: PageUsage, b: PageUsage): PageUsage {
  return {
    listed: a.listed + b.listed,
    all: a.all + b.all,
    choices: a.choices + b.choices,
    backtracks: a.backtracks + b.backtracks,
  }
}

/** The usage of several prompts that were sent as one request. */
function sumOf(usages: readonly (Partial<Usage> | undefined)[]): Usage | undefined {
  if (usages.length === 0 || !usages.every(isWhole)) return undefined
  return usages.reduce((sum, usage) => ({
    promptTokens: sum.promptTokens + usage.promptTokens,
    cachedTokens: add(sum.cachedTokens, usage.cachedTokens),
    reusedTokens: add(sum.reusedTokens, usage.reusedTokens),
    recomputedTokens: add(sum.recomputedTokens, usage.recomputedTokens),
    completionTokens: add(sum.completionTokens, usage.completionTokens),
    pages: sum.pages && usage.pages && sumOfPages(sum.pages, usage.pages),
  }))
}

function add(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a + b
}

function toObject(value: unknown): Json | undefined {
  return isObject(value) ? value : undefined
}

/** No request has more tokens. An engine that says so would spoil all sums. */
const mostTokens = 2 ** 31

function toCount(value: unknown): number | undefined {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= mostTokens
    ? (value as number)
    : undefined
}
