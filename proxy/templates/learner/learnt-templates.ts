import { LRUCache } from 'lru-cache'
import { tryJson } from '#engine-adapters/json-object.ts'
import type { PromptMessage, PromptSet } from '../../prompt/body/prompt.ts'
import type { PromptContext } from '../../prompt/body/prompt-context.ts'
import type { ContextList } from '../../prompt/context-list.ts'
import { judgeTask } from '../../prompt/places/judge-words.ts'
import { cutLearntList } from './cut-learnt-list.ts'
import { LearnerThread } from './learner-thread.ts'
import type { LearntTemplate } from './learnt-template.ts'
import { keysOf } from './text-keys.ts'

const mostTemplates = 512
/** Texts of one request that are learnt from. */
const mostOffered = 4

/** Who sends a text. */
interface Sender {
  readonly tenant: string
  readonly api: string
}

interface Place extends Pick<PromptMessage, 'role' | 'isRendered'> {
  readonly tool?: string | undefined
}

/** A list, and the key of the template that wrote it. */
export interface LearntList {
  readonly list: ContextList
  readonly key: string
}

/** Finds the list of a message that a learnt template wrote; undefined if none did, or if its words forbid to move it. */
export type LearntFinder = (message: Place, whole: string) => LearntList | undefined

/**
 * Templates whose borders no rule knows: learnt in a thread from texts in which nothing was found, once their documents
 * recur. Each belongs to one tenant.
 */
export class LearntTemplates {
  readonly #templates = new LRUCache<string, LearntTemplate>({ max: mostTemplates })
  readonly #adopted = new LRUCache<string, LearntTemplate>({ max: mostTemplates })
  readonly #thread: LearnerThread

  /** `onFault`: the thread was lost, with what it was about to learn. */
  constructor(onFault: (cause: unknown) => void) {
    const onLearnt = (template: LearntTemplate): void => {
      this.#templates.set(template.key, template)
    }
    this.#thread = new LearnerThread({ onLearnt, onFault })
  }

  finderFor(sender: Sender): LearntFinder {
    return (message, whole) => {
      if (this.#templates.size + this.#adopted.size === 0) return undefined
      for (const key of keysOf(placeOf(sender, message), whole)) {
        const template = this.#templates.get(key) ?? this.#adopted.get(key)
        const list = template && cutLearntList(whole, template)
        if (list) return isForbidden(whole, list) ? undefined : { list, key }
      }
      return undefined
    }
  }

  get(key: string): LearntTemplate | undefined {
    return this.#templates.peek(key) ?? this.#adopted.peek(key)
  }

  /** Takes over what another proxy learnt, or this one before it was restarted. What it has learnt itself counts first. */
  adopt(template: LearntTemplate): void {
    this.#adopted.set(template.key, template)
  }

  /** Offers messages in which nothing was found, the newest of them, to be learnt from. */
  offer(sender: Sender, messages: readonly { readonly message: Place; readonly text: string }[]): void {
    for (const { message, text } of messages.slice(-mostOffered)) this.#thread.offer(placeOf(sender, message), text)
  }

  async close(): Promise<void> {
    await this.#thread.close()
  }
}

function isForbidden(whole: string, { blocks, end }: ContextList): boolean {
  return judgeTask(`${whole.slice(0, blocks[0]!.start)}\n\n${whole.slice(end)}`, blocks) !== undefined
}

/** Whether a template is of texts that a tenant sent. */
export function isOfTenant({ key }: LearntTemplate, tenant: string): boolean {
  const place = tryJson(String((tryJson(key) as unknown[] | undefined)?.[0]))
  return Array.isArray(place) && place[0] === tenant
}

function placeOf({ tenant, api }: Sender, { role, tool = '', isRendered = false }: Place): string {
  return JSON.stringify([tenant, api, role, tool, isRendered])
}

/** Returns the messages since the last answer, each of one text, in which nothing was found. */
export function unknownMessages(
  { prompts }: PromptSet,
  texts: readonly string[],
  contexts: readonly Pick<PromptContext, 'slots' | 'isResult'>[],
): { readonly message: PromptMessage; readonly text: string }[] {
  const lists = contexts.filter(({ isResult }) => !isResult)
  const known = new Set(lists.flatMap(({ slots }) => slots.map(({ text }) => text)))
  return prompts.flatMap(({ messages }) =>
    messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1).flatMap((message) => {
      const [text, ...others] = message.texts
      if (text === undefined || others.length > 0 || known.has(text) || message.role === 'documents') return []
      return [{ message, text: texts[text]! }]
    }),
  )
}
