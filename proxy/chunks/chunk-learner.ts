import { LRUCache } from 'lru-cache'
import { getOrMake } from '#index/get-or-make.ts'
import { inSlices } from '../http/bounds/event-loop.ts'
import type { ChunkHandle } from '../prompt/certain-list.ts'
import type { ChunkInputs } from './read-chunk-inputs.ts'
import { type ChunkFacts, chunkFlags } from './table/chunk-record.ts'
import type { Added } from './table/chunk-table.ts'
import type { FoldedText } from './table/folded-text.ts'
import { decodeTokens } from './token-decoder.ts'

/** Receives the chunks that are learned. */
export interface ChunkSink {
  add(scope: string, text: string, facts: ChunkFacts): Added
  handleOf(chunk: number): ChunkHandle
  makeSure(scope: string, handle: ChunkHandle): void
  /** Notes that a rerank brought these candidates in this order, and what it asked. */
  noteCandidates(handles: readonly ChunkHandle[], question: string): void
  /** Forgets a text that is no chunk, unless it is known to be one for sure. */
  forgetUnsure(scope: string, text: string): void
  fold(text: string): FoldedText
}

/** Why a text is not learned. */
type IgnoredReason = 'too_short' | 'question' | 'tokens' | 'crowded' | 'unreadable' | 'encoded' | 'too_large'

export interface LearnerOptions {
  readonly sink: ChunkSink
  /** identifies this proxy's order of chunks among those of all proxies */
  readonly source: number
  readonly onIgnored?: (reason: IgnoredReason, count: number) => void
  readonly onLearned?: (kind: ChunkInputs['kind'], count: number) => void
}

/** One request that contains chunks, from its beginning to its end. */
export interface Lesson {
  learn(inputs: ChunkInputs): Promise<void>
  end(): void
}

/** The state of learning from one tenant. */
interface Tenant {
  order: number
  /** its requests with chunks that are in progress */
  readonly lessons: Set<{ isUnsure: boolean }>
  /** number of its requests with prompts that are in progress */
  prompts: number
  /** texts that came one per request, one after another, since its last prompt */
  alone: ChunkHandle[]
}

/** A shorter text to embed may be a question or a name. */
const shortestEmbedded = 64
const QUESTION = /[?？¿؟]["'”’»)\]]*\s*$/
/** This many texts that came alone, with no prompt between or alongside them, are chunks being indexed one by one. */
const fewestAlone = 3
const mostTenants = 4_096
const { sure, orderUnsure, first, last } = chunkFlags

/**
 * Learns chunks from what is embedded and reranked. A candidate of a rerank is a chunk once two reranks with different
 * questions have brought it among different neighbours. Several texts to embed in one request are chunks. A single text may
 * be a question, which is then in the very next prompt: it counts only in a row of such requests with no prompt near.
 */
export class ChunkLearner {
  readonly #options: LearnerOptions
  readonly #tenants = new LRUCache<string, Tenant>({ max: mostTenants })

  constructor(options: LearnerOptions) {
    this.#options = options
  }

  /** Begins a request of this tenant that may contain chunks. */
  begin(scope: string): Lesson {
    const tenant = this.#tenantOf(scope)
    const own = { isUnsure: tenant.lessons.size > 0 }
    for (const other of tenant.lessons) other.isUnsure = true
    tenant.lessons.add(own)
    return {
      learn: (inputs) => this.#learn(scope, tenant, own, inputs),
      end: () => void tenant.lessons.delete(own),
    }
  }

  /** Notes that a request with a prompt begins; call the returned function at its end. */
  prompted(scope: string): () => void {
    const tenant = this.#tenantOf(scope)
    tenant.prompts += 1
    tenant.alone = []
    return () => {
      tenant.prompts -= 1
    }
  }

  async #learn(scope: string, tenant: Tenant, own: { isUnsure: boolean }, inputs: ChunkInputs): Promise<void> {
    const { sink, onIgnored, onLearned } = this.#options
    for (const query of inputs.queries) sink.forgetUnsure(scope, query)
    const texts = [...inputs.texts, ...this.#decode(inputs.tokens)]
    const isRerank = inputs.kind === 'rerank'
    const isAlone = !isRerank && texts.length + inputs.queries.length === 1
    const begun = tenant.order
    // anybody may rerank the pieces of somebody else's text: a second request with another question has to agree
    const common = (isAlone || isRerank ? 0 : sure) | (own.isUnsure ? orderUnsure : 0)
    // reserve adjacent places for the batch, whatever is learned meanwhile
    tenant.order += texts.length
    const handles: ChunkHandle[] = []
    let learned = 0
    let order = begun
    await inSlices(texts, (text) => {
      const place = order++
      const reason = isRerank ? undefined : this.#whyNot(text)
      if (reason) return onIgnored?.(reason, 1)
      const { outcome, chunk } = sink.add(scope, text, {
        flags: common | endsAt(place - begun, texts.length),
        source: isRerank ? 0 : this.#options.source,
        order: place,
        id: [0, 0],
        ...endsOf(text),
      })
      if (chunk < 0) return onIgnored?.(outcome === 'crowded' ? 'crowded' : 'too_short', 1)
      handles.push(sink.handleOf(chunk))
      if (outcome === 'added') learned += 1
    })
    onLearned?.(inputs.kind, learned)
    if (isRerank) sink.noteCandidates(handles, inputs.queries.join('\n'))
    else if (isAlone && handles[0]) this.#hearAlone(scope, tenant, handles[0])
  }

  #whyNot(text: string): IgnoredReason | undefined {
    if (text.length < shortestEmbedded || this.#options.sink.fold(text).length < shortestEmbedded) return 'too_short'
    return QUESTION.test(text.slice(-32)) ? 'question' : undefined
  }

  #decode(tokens: readonly (readonly number[])[]): string[] {
    const texts = tokens.map(decodeTokens).filter((text) => text !== undefined)
    if (texts.length < tokens.length) this.#options.onIgnored?.('tokens', tokens.length - texts.length)
    return texts
  }

  #hearAlone(scope: string, tenant: Tenant, handle: ChunkHandle): void {
    if (tenant.prompts > 0) return
    const { sink } = this.#options
    if (tenant.alone.some(({ chunk }) => chunk === handle.chunk)) return
    tenant.alone.push(handle)
    if (tenant.alone.length < fewestAlone) return
    for (const one of tenant.alone) sink.makeSure(scope, one)
    tenant.alone = tenant.alone.slice(1 - fewestAlone)
  }

  #tenantOf(scope: string): Tenant {
    return getOrMake(this.#tenants, scope, () => ({ order: 1, lessons: new Set(), prompts: 0, alone: [] }))
  }
}

/** Whether a place is the first and the last of so many. */
function endsAt(place: number, count: number): number {
  return (place === 0 ? first : 0) | (place === count - 1 ? last : 0)
}

/** Returns the white space at both ends of a text. */
export function endsOf(text: string): { lead: string; tail: string } {
  const trimmed = text.trimStart()
  const end = trimmed.trimEnd().length
  return { lead: text.slice(0, text.length - trimmed.length), tail: trimmed.slice(end) }
}
