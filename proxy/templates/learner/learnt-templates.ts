import { LRUCache } from 'lru-cache'
import type { PromptMessage, PromptSet } from '../../prompt/body/prompt.ts'
import type { PromptContext } from '../../prompt/body/prompt-context.ts'
import type { CertainList } from '../../prompt/certain-list.ts'
import type { ContextList } from '../../prompt/context-list.ts'
import { judgeTask } from '../../prompt/places/judge-words.ts'
import { isOfSystem, questionOf } from '../../prompt/places/words-outside.ts'
import { leadOf } from '../find-list-place.ts'
import { fewestForWords, Template } from '../template.ts'
import { TrafficEvidence } from '../traffic/traffic-evidence.ts'
import { cutLearntList } from './cut-learnt-list.ts'
import { LearnerThread } from './learner-thread.ts'
import type { LearntTemplate } from './learnt-template.ts'
import type { SeenLists, UnknownText } from './seen-lists.ts'
import type { Learnt } from './template-learner.ts'
import { canTeach, keysOf, readPlace, toPlace } from './text-keys.ts'

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

/** A message in which nothing was found. */
interface UnknownMessage extends Omit<UnknownText, 'model'> {
  readonly message: PromptMessage
}

/** Finds the list of a message that a learnt template wrote; undefined if none did, or if its words forbid to move it. */
export type LearntFinder = (message: Place, whole: string) => CertainList | undefined

/**
 * Templates whose borders no rule knows: learnt in a thread from texts in which nothing was found, once their documents
 * recur. Each belongs to one tenant.
 */
export class LearntTemplates {
  readonly #templates = new LRUCache<string, LearntTemplate>({ max: mostTemplates })
  readonly #adopted = new LRUCache<string, LearntTemplate>({ max: mostTemplates })
  readonly #thread: LearnerThread

  /**
   * `onSeen`: what the lists of a template have shown before its borders were known. `onFault`: the thread was lost, with
   * what it was about to learn.
   */
  constructor({ onSeen, onFault }: { onSeen: (template: Template) => void; onFault: (cause: unknown) => void }) {
    const onLearnt = ({ template, seen }: Learnt): void => {
      this.#templates.set(template.key, template)
      for (const own of seen) onSeen(toTemplate(own, template))
    }
    this.#thread = new LearnerThread({ onLearnt, onFault })
  }

  finderFor(sender: Sender): LearntFinder {
    return (message, whole) => {
      if (this.#templates.size + this.#adopted.size === 0) return undefined
      for (const key of keysOf(placeOf(sender, message), whole)) {
        const template = this.#templates.get(key) ?? this.#adopted.get(key)
        const list = template && cutLearntList(whole, template)
        if (list) return isForbidden(whole, list) ? undefined : list
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
  offer({ model, ...sender }: Sender & Pick<UnknownText, 'model'>, messages: readonly UnknownMessage[]): void {
    for (const { message, ...unknown } of messages.slice(-mostOffered))
      this.#thread.offer(placeOf(sender, message), { ...unknown, model })
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
  return readPlace(key)?.tenant === tenant
}

function placeOf(sender: Sender, { role, tool = '', isRendered = false }: Place): string {
  return toPlace({ ...sender, role, tool }, isRendered)
}

function toTemplate({ tenant, id, place, lists, blocks, traffic }: SeenLists, { key }: LearntTemplate): Template {
  const words = lists < fewestForWords ? {} : { place }
  const known = { foundBy: 'learnt', learntKey: key, requests: lists, seenAhead: lists, blocks, ...words }
  const evidence = TrafficEvidence.fromRecord(traffic)
  return Object.assign(new Template(tenant, id), known, evidence && { traffic: evidence })
}

/** Returns the messages since the last answer, each of one text that may be of a template, in which nothing was found. */
export function unknownMessages(
  { prompts }: PromptSet,
  texts: readonly string[],
  contexts: readonly PromptContext[],
): UnknownMessage[] {
  const known = new Set(contexts.flatMap(({ slots, isResult }) => (isResult ? [] : slots.map(({ text }) => text))))
  return prompts.flatMap(({ messages }) => {
    const [rules] = messages.find((message) => isOfSystem({ message }))?.texts ?? []
    const system = rules === undefined ? '' : leadOf(texts[rules]!)
    const asking = messages.findLast(({ role }) => role === 'user')
    const unknown = messages
      .slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
      .filter(
        ({ role, texts: [text, ...others] }) =>
          text !== undefined && !others.length && !known.has(text) && role !== 'documents' && canTeach(texts[text]!),
      )
    // read once for all of them
    const isAsked = asking && unknown.some((message) => message !== asking)
    const own = contexts.filter(({ slots: [first] }) => asking?.texts.includes(first!.text))
    const asked = isAsked ? questionOf({ message: asking, contexts: own }, texts) : undefined
    return unknown.map((message) => ({
      message,
      text: texts[message.texts[0]!]!,
      system,
      asked: message === asking ? undefined : asked,
    }))
  })
}
