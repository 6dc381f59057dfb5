import { createHash, randomBytes } from 'node:crypto'
import { setImmediate as afterIo } from 'node:timers/promises'
import { promptPaths } from '#engine-adapters/prompt-api.ts'
import type { Call, RoutedCall } from '../request/call/call.ts'
import { cutStretches } from './cut-stretches.ts'
import { type FoundPrompts, findPrompts } from './found-prompts.ts'
import { type PackedTexts, packTexts, toOneLine, unpackTexts } from './packed-texts.ts'
import { cutPrompt } from './recorded-request.ts'
import { type BlockLine, TraceWriter, type TraceWriterOptions } from './trace-writer.ts'

/** What an engine reported about a request. */
interface RecordedUsage {
  readonly promptTokens: number
  readonly cachedTokens: number | undefined
}

export interface RecorderOptions extends TraceWriterOptions {
  /** whether texts are written; otherwise keyed digests, which nobody can compare with those of their own texts */
  readonly hasText: boolean
}

/** What is written of a request besides its prompts. */
interface RecordedHead {
  readonly number: number
  /** in seconds */
  readonly arrival: number
  readonly tenant: string
  readonly conversation: string | undefined
  readonly route: string
  /** false: it asked for its order to be left */
  readonly reorder: false | undefined
}

/** A prompt in pieces, without their texts. */
interface RecordedPrompt {
  readonly ids: readonly string[]
  /** in characters, including the markup of a block */
  readonly lengths: readonly number[]
  readonly stretches: readonly BlockLine['stretches'][]
  /** how many pieces are before the blocks, and how many up to the last of them */
  readonly start: number
  readonly end: number
}

/** A request while its answer runs. */
interface KeptRequest {
  readonly prompts: readonly RecordedPrompt[]
  /** undefined: no texts are written */
  readonly packed: PackedTexts | undefined
}

/** A request that is being recorded. */
export interface Recording {
  /** Call when the engine has counted the request. */
  used(usage: RecordedUsage): void
  /** Call when the request is over; what the engine has not counted is estimated. `wasRun`: the engine has seen it. */
  ended(wasRun: boolean): void
}

/** How many bytes of requests may be held for the trace while answers run: further requests are lost, and counted. */
const mostHeld = 64 * 1024 * 1024

/** Records passing requests as a trace, without delaying them. */
export class Recorder {
  readonly #options: RecorderOptions
  readonly #writer: TraceWriter
  /** new with every start, and written nowhere */
  readonly #secret = randomBytes(16)
  readonly #begun: number
  #count = 0
  #held = 0
  /** requests that are over, but not with the writer yet */
  readonly #ending = new Set<Promise<void>>()

  /** Throws if the folder is not writable. */
  constructor(options: RecorderOptions) {
    this.#options = options
    this.#begun = options.now()
    this.#writer = new TraceWriter(options)
  }

  /** Records a request that goes to an engine now; returns undefined if its prompt could not be read, or if it is lost. */
  follow(routed: RoutedCall, call: Call): Recording | undefined {
    const find = findPrompts(routed, call)
    if (!find) return undefined
    if (this.#held > mostHeld) {
      this.#options.onLost(1)
      return undefined
    }
    const head = this.#headOf(routed, call)
    const { mirror } = routed.replica
    let usage: RecordedUsage = { promptTokens: routed.decision.promptTokens, cachedTokens: undefined }
    const keeping = this.#keep(find, call.body)
    const end = async (wasRun: boolean): Promise<void> => {
      const kept = await keeping
      this.#held -= kept?.packed?.size ?? 0
      if (!wasRun) return
      if (kept) await this.#write(head, kept, usage, (characters) => mirror.estimateTokens(characters))
      else this.#options.onLost(1)
    }
    return {
      used: (reported) => {
        usage = reported
      },
      ended: (wasRun) => {
        const ending = end(wasRun)
          .catch(() => this.#options.onLost(1))
          .finally(() => this.#ending.delete(ending))
        this.#ending.add(ending)
      },
    }
  }

  /** Writes what is left, and ends. */
  async close(): Promise<void> {
    await Promise.all(this.#ending)
    await this.#writer.close()
  }

  #headOf({ decision }: RoutedCall, { api, caller, conversation, settings }: Call): RecordedHead {
    return {
      number: this.#count++,
      arrival: (this.#options.now() - this.#begun) / 1_000,
      tenant: this.#hash(caller.tenant),
      conversation: conversation === undefined ? undefined : this.#hash(conversation),
      route: promptPaths[api],
      // what is configured for all requests is not a wish of this one
      reorder: decision.options.reorder === false && settings.options.reorder !== false ? false : undefined,
    }
  }

  /**
   * Cuts the prompts and packs their texts once the request is on its way, so that nothing else of it is kept while its
   * answer runs. Returns undefined after an error of ours, and never rejects.
   */
  async #keep(find: () => Promise<FoundPrompts>, body: Buffer): Promise<KeptRequest | undefined> {
    this.#held += body.length
    try {
      await afterIo()
      const { texts, prompts, contexts } = await find()
      const cut = prompts.map((places) => this.#cut(texts, places, contexts))
      if (!this.#options.hasText) return { prompts: cut.map(({ prompt }) => prompt), packed: undefined }
      const packed = await packTexts({ pieces: cut.map(({ pieces }) => pieces), body })
      this.#held += packed.size
      return { prompts: cut.map(({ prompt }) => prompt), packed }
    } catch {
      return undefined
    } finally {
      this.#held -= body.length
    }
  }

  #cut(
    texts: readonly string[],
    places: readonly number[],
    contexts: FoundPrompts['contexts'],
  ): { prompt: RecordedPrompt; pieces: string[] } {
    const { front, blocks, rest } = cutPrompt(texts, places, contexts)
    const all = [...front, ...blocks, ...rest]
    const pieces = all.map(({ text, start, end, content = { start, end } }) =>
      texts[text]!.slice(content.start, content.end),
    )
    const prompt = {
      ids: pieces.map((text) => this.#hash(text)),
      stretches: pieces.map((text) => this.#stretchesOf(text)),
      lengths: all.map(({ start, end }) => end - start),
      start: front.length,
      end: front.length + blocks.length,
    }
    return { prompt, pieces }
  }

  async #write(
    { number, ...head }: RecordedHead,
    { prompts, packed }: KeptRequest,
    { promptTokens, cachedTokens }: RecordedUsage,
    estimateTokens: (characters: number) => number,
  ): Promise<void> {
    const texts = packed && (await unpackTexts(packed))
    const characters = prompts.flatMap(({ lengths }) => lengths).reduce((sum, length) => sum + length, 0)
    const tokens = promptTokens || estimateTokens(characters)
    const isOne = prompts.length === 1
    for (const [i, prompt] of prompts.entries()) {
      const { ids, start, end } = prompt
      const line = JSON.stringify({
        query_id: isOne ? number : `${number}/${i}`,
        ...head,
        tokens: isOne ? tokens : undefined,
        cached_tokens: isOne ? cachedTokens : undefined,
        blocks: ids.slice(start, end),
        front: ids.slice(0, start),
        rest: ids.slice(end),
      })
      const blocks = toBlockLines(prompt, tokens / characters, texts?.pieces[i])
      // of several prompts, each would repeat the body of all
      this.#writer.write(texts && isOne ? withRequest(line, head.route, texts.body) : line, blocks)
    }
  }

  #stretchesOf(text: string): BlockLine['stretches'] {
    const stretches = cutStretches(text)
    if (stretches.length < 2) return undefined
    return stretches.map(({ start, end }) => [this.#hash(text.slice(start, end)).slice(0, 11), end - start] as const)
  }

  #hash(text: string): string {
    return createHash('sha256').update(this.#secret).update(text).digest('base64url').slice(0, 22)
  }
}

function toBlockLines(
  { ids, lengths, stretches }: RecordedPrompt,
  tokensPerCharacter: number,
  texts: readonly string[] | undefined,
): BlockLine[] {
  return ids.map((id, at) => {
    const tokens = Math.max(1, Math.round(lengths[at]! * tokensPerCharacter))
    return { id, ...(texts ? { text: texts[at]! } : { tokens }), stretches: stretches[at] }
  })
}

/** Adds the request as received to a line. Its body is not parsed, so that numbers stay as they were written. */
function withRequest(line: string, path: string, body: Buffer): string {
  return `${line.slice(0, -1)},"request":{"path":${JSON.stringify(path)},"body":${toOneLine(body)}}}`
}
