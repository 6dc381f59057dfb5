import { promptApis, promptPaths } from '#engine-adapters/prompt-api.ts'
import { type BlockId, digestOf } from '#index/context-block.ts'
import { noKnownTurns } from '#index/conversation-store.ts'
import { groupBy } from '#index/group-by.ts'
import { planContexts } from '#index/plan/plan-contexts.ts'
import { CertainLists } from '#proxy/chunks/certain-lists.ts'
import { ProxyError } from '#proxy/common/errors.ts'
import { readOptions } from '#proxy/common/request-options.ts'
import type { Config } from '#proxy/config/config.ts'
import { readWithinLimits } from '#proxy/http/receive/read-received.ts'
import { isLeftAlone, type PromptContext } from '#proxy/prompt/body/prompt-context.ts'
import { finish } from '#proxy/prompt/finish.ts'
import type { Layout } from '#proxy/prompt/layout.ts'
import { defaultWording } from '#proxy/prompt/wording.ts'
import { layOut, optionsOf } from '#proxy/reuse/lay-out-request.ts'
import { type DeclaredTemplate, readDeclaredTemplates } from '#proxy/templates/declared-templates.ts'
import { scheduleDepthFirst } from '#scheduler/schedule-contexts.ts'
import { TraceBlock } from '../replay/trace/trace.ts'
import type { BatchRequest } from './batch-file.ts'

export interface PlannedRequest {
  readonly request: BatchRequest
  /** positions of its blocks in the order to send them, counted across its lists; undefined: as the proxy orders them */
  readonly order: readonly number[] | undefined
}

/** A request, and what of its prompt it may share with others. */
interface ReadRequest {
  readonly request: BatchRequest
  /** digests of what is in front of its list, or of the whole prompt, piece by piece, each with all before it */
  readonly front: readonly string[]
  readonly list: MovableList | undefined
}

/** The first list of a prompt whose blocks may be moved. */
interface MovableList {
  /** how many blocks the lists before it have */
  readonly start: number
  readonly context: readonly BlockId[]
  readonly sizes: readonly number[]
}

/** In characters: prompts that share less than this in front of their lists need not be neighbours. */
const pieceLength = 1_024

/** Plans a batch as `reprise plan` does (ContextPilot §7.1): what to send in which order, and when. */
export class BatchPlanner {
  readonly #config: Config
  readonly #templates: readonly DeclaredTemplate[]
  readonly #requests: ReadRequest[] = []
  readonly #tokens = new Map<BlockId, number>()

  /** `config`: how blocks are found. */
  constructor(config: Config) {
    this.#config = config
    this.#templates = readDeclaredTemplates(config.templates)
  }

  /** Reads a request. One that cannot be read is sent as it is, and the engine says what is wrong with it. */
  async add(request: BatchRequest, body: string): Promise<void> {
    const layout = await this.#layOut(request, body)
    const read = layout?.prompts.length === 1 ? this.#read(layout) : { front: '', list: undefined }
    const { front, list } = read
    this.#requests.push({ request, front: digestPieces(front, request.url), list })
  }

  /**
   * Returns every request once, in the order to run them: those with equal text in front of their lists together, and
   * these in the order of their plan.
   */
  plan(): PlannedRequest[] {
    const groups = groupBy(this.#requests, ({ front }) => front.at(-1)!)
    const planned = [...groups.values()].flatMap(planGroup)
    return scheduleDepthFirst(planned, ({ front }) => front).map(({ request, order }) => ({ request, order }))
  }

  async #layOut({ url }: BatchRequest, body: string): Promise<Layout | undefined> {
    const path = url.split('?')[0]
    const api = promptApis.find((name) => promptPaths[name] === path)
    if (!api) return undefined
    const { hygiene, workLimits } = this.#config
    const limits = { hygiene, limits: workLimits, isEncoded: false, turns: { take: async () => {} } }
    try {
      const { received } = await readWithinLimits(api, Buffer.from(body), limits)
      const input = {
        received,
        mode: 'on' as const,
        tenant: '',
        conversation: undefined,
        options: readOptions(this.#config.options),
        wording: { ...defaultWording, ...this.#config.annotations },
        certain: new CertainLists(undefined, this.#templates),
      }
      if (optionsOf(input).reorder === false) return undefined
      return finish(layOut(input, { store: noKnownTurns }))?.layout
    } catch (error) {
      // the proxy refuses it, and says why in its result
      if (error instanceof ProxyError) return undefined
      throw error
    }
  }

  /** Cuts the one prompt of a layout in front of the first list whose blocks may be moved. */
  #read({ texts, prompts: [prompt] }: Layout): { front: string; list: MovableList | undefined } {
    const front = [prompt!.preamble]
    let start = 0
    for (const { identity, message, contexts } of prompt!.messages) {
      front.push(identity)
      const found = contexts.find(isMovable)
      for (const text of message.texts) {
        const slot = found?.slots.find((own) => own.text === text)
        front.push(texts[text]!.slice(0, slot?.start))
        if (!slot) continue
        for (const before of contexts.slice(0, contexts.indexOf(found!))) start += before.slots.length
        return { front: front.join('\n'), list: this.#toList(found!, texts, start) }
      }
      for (const { slots } of contexts) start += slots.length
    }
    return { front: front.join('\n'), list: undefined }
  }

  #toList({ blocks, slots }: PromptContext, texts: readonly string[], start: number): MovableList {
    const sizes = slots.map(({ text, content }, place) => {
      const known = this.#tokens.get(blocks[place]!)
      if (known !== undefined) return known
      const { tokens } = new TraceBlock(0, { text: texts[text]!.slice(content.start, content.end) })
      this.#tokens.set(blocks[place]!, tokens)
      return tokens
    })
    return { start, context: blocks, sizes }
  }
}

function isMovable(context: PromptContext): boolean {
  return !context.isResult && context.slots.length > 1 && !isLeftAlone(context)
}

function planGroup(group: readonly ReadRequest[]): (PlannedRequest & Pick<ReadRequest, 'front'>)[] {
  const batch = group.map(({ list }) => list ?? { context: [], sizes: [] })
  return planContexts(batch).map(({ request: at, order }) => {
    const { request, list, front } = group[at]!
    // the lists before it keep their order
    const before = Array.from({ length: list?.start ?? 0 }, (_, i) => i)
    return { request, front, order: list && [...before, ...order.map((place) => list.start + place)] }
  })
}

/** Returns a digest of the beginning of a text for each piece of it; the first is that of `name` alone. */
function digestPieces(text: string, name: string): string[] {
  const digests: string[] = [digestOf(name)]
  for (let at = 0; at < text.length; at += pieceLength) {
    digests.push(digestOf(digests.at(-1)! + text.slice(at, at + pieceLength)))
  }
  return digests
}
