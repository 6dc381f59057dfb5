import type { Json } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { noKnownTurns } from '#index/conversation-store.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { CitationLabels, type CitationMap } from '../../answer/citations/citation-labels.ts'
import { mapCitations } from '../../answer/citations/map-citations.ts'
import { readReceived } from '../../http/receive/read-received.ts'
import { type PromptBody, writeBody } from '../../prompt/body/prompt-body.ts'
import { isLeftAlone, type PromptContext } from '../../prompt/body/prompt-context.ts'
import { spliceTexts } from '../../prompt/body/splice-texts.ts'
import type { TextSplice } from '../../prompt/body/text-splice.ts'
import { citationMapOf } from '../../prompt/citation-map.ts'
import { finish } from '../../prompt/finish.ts'
import type { Layout, PermitLists } from '../../prompt/layout.ts'
import type { DecisionInput } from '../../reuse/decision.ts'
import { layOutPlaced } from '../../reuse/lay-out-request.ts'
import { reusePrompts } from '../../reuse/reuse-prompt.ts'

/** A request's prompt in other words: members of its body. */
export interface PromptVariants {
  /** as it was sent */
  readonly sent: Json
  /** the list in another order, with all that is said of it */
  readonly rewritten: Json
  /** with one more line break behind the list */
  readonly harmless: Json
  /** Returns an answer to the prompt as sent in the numbering of the rewritten one. */
  readonly toRewritten: (answer: string) => string
}

interface VariantsWay {
  readonly createIndex: CacheMirror['createIndex']
  /** how manyth sample of its template it is */
  readonly turn: number
  readonly order?: readonly number[] | undefined
}

/**
 * Writes the variants of a body that tell whether the order of a template's list matters; `order` is the one it was sent
 * in, if that is not as received. In turn, the list is reversed, which moves the first block as far as can be, and rotated
 * by half, which moves those of the middle. Returns undefined if the list is not found in it, or may not be moved.
 */
export function writeVariants(
  api: PromptApi,
  body: Buffer,
  template: string,
  input: Omit<DecisionInput, 'received'> & { readonly permit: PermitLists },
  { createIndex, turn, order }: VariantsWay,
): PromptVariants | undefined {
  const received = readReceived(api, body, false)
  const { prompt } = received
  if (!prompt?.set) return undefined
  const only = onlyOf(template, input.permit)
  const layout = finish(layOutPlaced(prompt, prompt.set, undefined, { ...input, permit: only, received }, noKnownTurns))
  const contexts = layout.prompts.flatMap(({ messages }) => messages.flatMap((message) => message.contexts))
  const list = contexts.find((context) => context.template?.id === template && !isLeftAlone(context))
  if (list === undefined) return undefined
  const { tenant, options, wording } = input
  const inOrder = (order: readonly number[]) => {
    const mirror = { order: () => ({ order, searchPath: [] }), createIndex }
    const { splices, prompts } = reusePrompts(layout, {
      mirror,
      tenant,
      options: { ...options, dedup: false },
      wording,
    })
    return { splices, labels: prompts.flatMap(({ contexts: own }) => citationMapOf(layout.texts, own)) }
  }
  const places = order ?? [...list.slots.keys()]
  if (places.length !== list.slots.length) return undefined
  const half = places.length >> 1
  const sent = inOrder(places)
  const other = inOrder(turn % 2 === 0 ? places.toReversed() : [...places.slice(half), ...places.slice(0, half)])
  const write = (splices: readonly (readonly TextSplice[])[]): Json => writeMembers(prompt, layout, splices)
  const toOther = toSentLabels(other.labels)
  return {
    sent: write(sent.splices),
    rewritten: write(other.splices),
    harmless: write(withLineBreak(layout, list, sent.splices)),
    toRewritten: (answer) => toOther(mapCitations(new CitationLabels(sent.labels), answer)),
  }
}

/** Returns what writes an answer to the prompt as received in the numbering of the rewritten one. */
function toSentLabels(map: CitationMap): (answer: string) => string {
  const inverse = map.map((list) => ({
    ...list,
    labels: new Map([...list.labels].map(([sent, received]) => [received, sent])),
  }))
  return (answer) => mapCitations(new CitationLabels(inverse), answer)
}

/** Permits the lists of one template, and no others. */
function onlyOf(template: string, permit: PermitLists): PermitLists {
  return (messages, texts) =>
    permit(messages, texts).map((message) => ({
      ...message,
      contexts: message.contexts.map((context) => ({
        ...context,
        template: context.template && { ...context.template, mayMove: context.template.id === template },
      })),
    }))
}

function withLineBreak(
  { texts }: Layout,
  { slots, annotateAt }: PromptContext,
  splices: readonly (readonly TextSplice[])[],
): (readonly TextSplice[])[] {
  const last = slots.at(-1)!
  const at = annotateAt ?? { text: last.text, offset: texts[last.text]!.length }
  const added = { start: at.offset, end: at.offset, pieces: ['\n'] }
  return splices.map((own, text) => (text === at.text ? [...own, added].sort((a, b) => a.start - b.start) : own))
}

function writeMembers(prompt: PromptBody, { texts }: Layout, splices: readonly (readonly TextSplice[])[]): Json {
  const bytes = writeBody(prompt, spliceTexts(prompt, { texts, splices: splices.map((own) => [...own]) }))
  return JSON.parse(bytes.toString()) as Json
}
