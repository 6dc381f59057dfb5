import { createHash, randomBytes } from 'node:crypto'
import { setImmediate as afterIo } from 'node:timers/promises'
import type { Json } from '#engine-adapters/json-object.ts'
import { type PromptApi, promptPaths } from '#engine-adapters/prompt-api.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import type { Call, RoutedCall } from '../call/call.ts'
import type { TripFollower } from '../call/trip.ts'
import { withoutByteOrderMark } from '../http/receive/read-received.ts'
import type { ReportedUsage } from '../telemetry/reported-usage.ts'
import { type FoundPrompts, findPrompts } from './found-prompts.ts'
import { type RecordedPrompt, recordPrompt } from './recorded-prompt.ts'
import { type BlockLine, TraceWriter, type TraceWriterOptions } from './trace-writer.ts'

export interface RecorderOptions extends TraceWriterOptions {
  /** whether texts are written; otherwise only keyed digests, which nobody else can compute for a given text */
  readonly hasText: boolean
}

/** What is recorded about a request besides its prompts. */
type RecordedHead = Json & { readonly number: number; readonly route: string }

/** A request while its answer runs. */
interface KeptRequest {
  readonly prompts: readonly RecordedPrompt[]
  /** weight of the words added before sending, minus that of the words left out */
  readonly added: number
  /** as received; undefined: no texts are written */
  readonly body: Buffer | undefined
  /** in bytes and characters */
  readonly size: number
}

/** How many bytes of requests may be held for the trace while answers run: further requests are lost, and counted. */
const mostHeld = 128 * 1024 * 1024

/** The APIs whose prompts get no template. */
const plainApis: ReadonlySet<PromptApi> = new Set(['completions', 'generate'])

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

  /**
   * Records a request that goes to an engine now; what that does not count is estimated. Returns undefined if its prompt
   * could not be read, or if it is lost.
   */
  follow(routed: RoutedCall, call: Call): Required<Pick<TripFollower, 'used' | 'ended'>> | undefined {
    const find = findPrompts(routed, call)
    if (!find) return undefined
    if (this.#held > mostHeld) {
      this.#options.onLost(1)
      return undefined
    }
    const head = this.#headOf(routed, call)
    let usage: ReportedUsage = { promptTokens: routed.decision.promptTokens, cachedTokens: undefined }
    const keeping = this.#keep(find, call)
    const end = async (wasRun: boolean): Promise<void> => {
      const kept = await keeping
      this.#held -= kept?.size ?? 0
      if (wasRun && kept) this.#write(head, kept, usage, routed.replica.mirror)
      else if (wasRun) this.#options.onLost(1)
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

  /** Writes everything that is left, and ends. */
  async close(): Promise<void> {
    await Promise.all(this.#ending)
    await this.#writer.close()
  }

  #headOf({ decision }: RoutedCall, { api, caller, conversation, settings }: Call): RecordedHead {
    return {
      number: this.#count++,
      // in seconds
      arrival: (this.#options.now() - this.#begun) / 1_000,
      tenant: this.#hash(caller.tenant),
      conversation: conversation === undefined ? undefined : this.#hash(conversation),
      route: promptPaths[api],
      // false only if the request itself asked to keep its order: the configuration applies to all requests
      reorder: decision.options.reorder === false && settings.options.reorder !== false ? false : undefined,
    }
  }

  /**
   * Cuts the prompts once the request is on its way, so that nothing else of it is kept while its answer runs. Returns
   * undefined after an error of ours, and never rejects.
   */
  async #keep(find: () => Promise<FoundPrompts>, { api, content: { body } }: Call): Promise<KeptRequest | undefined> {
    this.#held += body.length
    try {
      await afterIo()
      const { texts, prompts, contexts, added, wording } = await find()
      const { hasText } = this.#options
      const way = { hash: (text: string) => this.#hash(text), hasText, wording, isChat: !plainApis.has(api) }
      const recorded = prompts.map((places) => recordPrompt(texts, places, contexts, way))
      const characters = recorded.reduce((sum, prompt) => sum + prompt.characters, 0)
      const size = hasText ? body.length + characters : 0
      this.#held += size
      return { prompts: recorded, added, body: hasText ? body : undefined, size }
    } catch {
      return undefined
    } finally {
      this.#held -= body.length
    }
  }

  #write(
    { number, ...head }: RecordedHead,
    { prompts, added, body }: KeptRequest,
    { promptTokens, cachedTokens }: ReportedUsage,
    mirror: Pick<CacheMirror, 'estimateTokens'>,
  ): void {
    const total = (of: 'characters' | 'weight'): number => prompts.reduce((sum, prompt) => sum + prompt[of], 0)
    const tokens = promptTokens || mirror.estimateTokens(total('characters'))
    const tokensPerWeight = tokens / Math.max(1, total('weight') + added)
    const isOne = prompts.length === 1
    for (const [i, prompt] of prompts.entries()) {
      const { blocks, front, rest } = prompt
      const line = JSON.stringify({
        query_id: isOne ? number : `${number}/${i}`,
        ...head,
        tokens: isOne ? tokens : undefined,
        cached_tokens: isOne ? cachedTokens : undefined,
        blocks,
        front,
        rest,
        list: toListField(prompt, tokensPerWeight),
      })
      // with several prompts, each line would repeat the whole body
      this.#writer.write(
        body && isOne ? withRequest(line, head.route, body) : line,
        toBlockLines(prompt, tokensPerWeight),
      )
    }
  }

  #hash(text: string): string {
    return createHash('sha256').update(this.#secret).update(text).digest('base64url').slice(0, 22)
  }
}

function toListField({ list }: RecordedPrompt, tokensPerWeight: number): object | undefined {
  if (!list) return undefined
  const { orderWords, ...pieces } = list
  return { ...pieces, order_tokens: Math.round(orderWords * tokensPerWeight) }
}

function toBlockLines({ pieces }: RecordedPrompt, tokensPerWeight: number): BlockLine[] {
  return pieces.map(({ id, text, characters, weight, stretches }) => {
    const tokens = Math.max(1, Math.round(weight * tokensPerWeight))
    return { id, tokens, ...(text === undefined ? { characters } : { text }), stretches }
  })
}

/** Adds the request as received to a line. Its body is not parsed, so that numbers stay as they were written. */
function withRequest(line: string, path: string, body: Buffer): string {
  return `${line.slice(0, -1)},"request":{"path":${JSON.stringify(path)},"body":${toOneLine(body)}}}`
}

/** Returns a JSON body as one line. All its line ends are between values, because strings escape theirs. */
export function toOneLine(body: Buffer): string {
  return withoutByteOrderMark(body)
    .toString()
    .replaceAll(/[\r\n]+/g, ' ')
    .trim()
}
