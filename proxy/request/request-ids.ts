import { randomUUID } from 'node:crypto'
import type { Json } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { RequestId } from '#index/context-block.ts'
import type { Call, RoutedCall } from '../call/call.ts'

/** Ids that may be forwarded in a header. */
const acceptable = /^[\x21-\x7e]{1,200}$/

/**
 * SGLang recognises its own health probes by this prefix: it answers them when it likes, and does not report what it
 * caches for them.
 */
const probe = /^HEALTH_CHECK/

/** Gives each request an id that no live or mirrored request has, as close as possible to the one its client wants. */
export class RequestIds {
  readonly #live = new Set<string>()
  readonly #isMirrored: (id: RequestId) => boolean

  constructor(isMirrored: (id: RequestId) => boolean) {
    this.#isMirrored = isMirrored
  }

  /**
   * Returns the id to give the engine; `release` it when the request has ended. `namesOf`: the ids its prompts may have
   * in the engine's reports, if they differ from it.
   */
  take(wanted: string | undefined, namesOf: (id: RequestId) => readonly RequestId[] = () => []): RequestId {
    let id = wanted && acceptable.test(wanted) ? wanted.replace(probe, 'request-$&') : randomUUID()
    const names = [id as RequestId, ...namesOf(id as RequestId)]
    if (this.#live.has(id) || names.some(this.#isMirrored)) id = `${id}-${randomUUID().slice(0, 8)}`
    this.#live.add(id)
    return id as RequestId
  }

  release(id: RequestId): void {
    this.#live.delete(id)
  }
}

/** The member in which an API takes a list of prompts. */
const listedIn: Partial<Record<PromptApi, string>> = { completions: 'prompt', generate: 'text' }

/** Whether a body has one prompt, of text or of token ids. */
export function hasOnePrompt(api: PromptApi, members: Json): boolean {
  const key = listedIn[api]
  const given = (key === undefined ? undefined : members[key]) ?? members.input_ids
  return !Array.isArray(given) || given.length < 2 || given.every((id) => typeof id === 'number')
}

/** Whether a body gives its prompts as a list, even a list of one. */
export function isPromptList(api: PromptApi, members: Json): boolean {
  const key = listedIn[api]
  return key !== undefined && Array.isArray(members[key])
}

/** Returns the ids that an engine's reports may use for the prompts of a request. */
export function idsOfPrompts(
  { api, content: { members } }: Pick<Call, 'api' | 'content'>,
  { replica, decision }: Pick<RoutedCall, 'replica' | 'decision'>,
  request: RequestId,
): RequestId[] {
  const isList = isPromptList(api, members)
  return replica.adapter.promptIds(request, { count: decision.sent.length, isList, rid: members.rid })
}
