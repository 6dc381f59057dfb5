import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { ReplicaId, RequestId } from '#index/context-block.ts'
import { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { ProcessedBlocks } from '#index/processed-blocks.ts'
import { CertainLists } from '../chunks/certain-lists.ts'
import { KnownChunks } from '../chunks/known-chunks.ts'
import type { Mode, RequestOptions } from '../common/request-options.ts'
import { readReceived } from '../http/receive/read-received.ts'
import { writeBody } from '../prompt/body/prompt-body.ts'
import type { KnownTemplates } from '../prompt/find-contexts.ts'
import type { PermitLists } from '../prompt/layout.ts'
import { MemoryConversationStore } from '../prompt/turns/memory-conversation-store.ts'
import { defaultWording } from '../prompt/wording.ts'
import { decide } from '../reuse/decide.ts'
import { askedText, type Decision } from '../reuse/decision.ts'
import type { Candidate } from '../reuse/plan-route.ts'
import type { DeclaredTemplate } from '../templates/declared-templates.ts'
import type { LearntFinder } from '../templates/learner/learnt-templates.ts'
import { contentsOf } from './route-call.ts'

export type Message = { role: string; content: unknown }

export interface SendOptions {
  readonly api?: PromptApi
  readonly conversation?: string
  readonly tenant?: string
  /** whose the request is, for an engine that asks */
  readonly user?: string
  readonly mode?: Mode
  readonly options?: RequestOptions
  /** says which lists may be moved; all may, if it is missing */
  readonly permit?: PermitLists
}

const engine = 'engine' as ReplicaId

/** A proxy without sockets: what it decides to send counts as sent. */
export class Sender {
  readonly mirror: CacheMirror = new CacheMirror({ maxRequests: 1000, maxBlocks: 100_000 })
  readonly store: MemoryConversationStore = new MemoryConversationStore(1_000_000)
  chunks: KnownChunks = new KnownChunks({ maxChunks: 1000, source: 1 })
  templates: readonly DeclaredTemplate[] = []
  /** what is known of how applications write their lists, if anything */
  known: KnownTemplates | undefined
  /** finds lists that templates wrote which were learnt, if any were */
  learnt: LearntFinder | undefined
  /** how its engine caches, if it says so */
  cacheConfig: Candidate['cacheConfig']
  /** how it reuses KV at any position, if it does */
  reuse: Candidate['reuse']
  readonly #processed = new ProcessedBlocks(100_000)
  #sent = 0

  /** Returns the decision, and the body as it would go to the engine if it differs from the one received. */
  decide(body: unknown, options: SendOptions = {}): Decision & { readonly body: string | undefined } {
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
    const received = readReceived(options.api ?? 'chat_completions', bytes, false)
    const tenant = options.tenant ?? 'default'
    const decision = decide(
      {
        received,
        mode: options.mode ?? 'on',
        tenant,
        conversation: options.conversation,
        options: options.options ?? {},
        wording: defaultWording,
        permit: options.permit,
        ...(this.known && { known: this.known }),
        certain: new CertainLists(this.chunks.finderFor(tenant), this.templates, this.learnt),
      },
      { candidates: [this.#candidateFor(tenant, options.user)], store: this.store, select: () => 0, now: () => 0 },
    )
    return { ...decision, body: decision.splices && writeBody(received.prompt!, decision.splices).toString() }
  }

  #candidateFor(tenant: string, user: string | undefined): Candidate {
    const { mirror, cacheConfig, reuse } = this
    const asked = reuse?.users ? user : undefined
    return {
      mirror,
      cacheConfig,
      reuse,
      hasProcessed: (block) => this.#processed.has(engine, tenant, block),
      isReusable: (block) => this.#processed.has(engine, tenant, block, asked),
    }
  }

  /** Returns the body as it goes to the engine, and counts it as sent. */
  sendBody<Body extends object>(body: Body, options: SendOptions = {}): Body {
    const decision = this.decide(body, options)
    for (const [turn, sent] of decision.turns) this.store.remember(turn, sent)
    this.#processed.note(engine, options.tenant ?? 'default', contentsOf(decision).blocks, options.user)
    const known = decision.contexts.map(({ found }) => found.certain?.chunks ?? [])
    this.chunks.noteLists(known, askedText(decision))
    for (const prompt of decision.sent) {
      this.mirror.apply({ type: 'sent', request: `r${this.#sent++}` as RequestId, prompt })
    }
    return decision.body === undefined ? body : JSON.parse(decision.body)
  }

  /** Does the same for the messages of a chat. */
  send(messages: Message[], options: SendOptions & { reprise?: unknown } = {}): Message[] {
    const { reprise, ...rest } = options
    return this.sendBody({ messages, reprise }, rest).messages
  }
}

/** A message with documents before its question. */
export function userMessage(question: string, ...blocks: string[]): Message {
  const documents = blocks.map((text, i) => `<document index="${i + 1}">${text}</document>`).join('\n')
  return { role: 'user', content: `<documents>\n${documents}\n</documents>\n\nQuestion: ${question}` }
}

export function assistantMessage(content: string): Message {
  return { role: 'assistant', content }
}
