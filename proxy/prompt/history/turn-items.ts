import type { SentOrder } from '#index/conversation-store.ts'
import type { Span } from '../../json/json-spans.ts'
import { type PromptContext, slotsByText } from '../body/prompt-context.ts'
import type { LaidOutMessage } from '../layout.ts'
import { findTurns } from '../scan/find-turns.ts'

/** Who wrote a text; `unknown` in a rendered prompt without marks of turns. */
type Speaker = 'user' | 'assistant' | 'other' | 'unknown'

/** A list of a prompt. */
export interface ListItem {
  readonly kind: 'list'
  readonly context: PromptContext
  /** how it was sent, if it was sent in another order than received */
  readonly moved: SentOrder | undefined
  /** index of its message, and its own among the message's contexts */
  readonly message: number
  readonly place: number
  readonly turn: string
}

/** A stretch of text outside lists. */
export interface TextItem extends Span {
  readonly kind: 'text'
  readonly speaker: Speaker
  readonly message: number
  /** index among the texts of the body */
  readonly text: number
  readonly turn: string
}

/** Returns the lists of a prompt and the texts around them, in the order of the prompt. */
export function readItems(messages: readonly LaidOutMessage[], texts: readonly string[]): (ListItem | TextItem)[] {
  return messages.flatMap((laidOut, message) => {
    const slots = slotsByText(laidOut.contexts)
    const begun = new Set<PromptContext>()
    return laidOut.message.texts.flatMap((text) => {
      const items: (ListItem | TextItem)[] = []
      let at = 0
      const addText = (end: number): void => {
        for (const { speaker, turn, ...span } of speakersOf(laidOut, texts[text]!)) {
          const own = { start: Math.max(span.start, at), end: Math.min(span.end, end) }
          if (own.start < own.end)
            items.push({ kind: 'text', speaker, message, text, turn: `${message}/${turn}`, ...own })
        }
      }
      for (const { slot } of slots.get(text) ?? []) {
        addText(slot.start)
        at = slot.end
        const place = laidOut.contexts.findIndex((context) => context.slots.includes(slot))
        const context = laidOut.contexts[place]!
        if (begun.has(context)) continue
        begun.add(context)
        const turn = speakersOf(laidOut, texts[text]!).findIndex(({ end }) => end > slot.start)
        items.push({
          kind: 'list',
          context,
          moved: movedIn(laidOut, place),
          message,
          place,
          turn: `${message}/${turn}`,
        })
      }
      addText(texts[text]!.length)
      return items
    })
  })
}

/** Returns how a context was sent before, if its blocks were moved. */
function movedIn({ contexts, past }: LaidOutMessage, place: number): SentOrder | undefined {
  const sent = past[place]
  const { slots, isResult } = contexts[place]!
  if (!sent || isResult || sent.order.length !== slots.length) return undefined
  return sent.order.some((from, to) => from !== to) ? sent : undefined
}

interface Stretch extends Span {
  readonly speaker: Speaker
  readonly turn: number
}

/** Returns the stretches of a text by speaker. Only a rendered prompt has several. */
function speakersOf({ message, contexts, past }: LaidOutMessage, text: string): Stretch[] {
  const { role, isRendered } = message
  if (!isRendered) return [{ start: 0, end: text.length, speaker: roles[role] ?? 'other', turn: 0 }]
  const turns = findTurns(text) ?? []
  // the last list was sent before only in this very prompt, in which nothing is later
  const isRepeated = past[contexts.length - 1] !== undefined
  if (turns.length <= 1) return [{ start: 0, end: text.length, speaker: isRepeated ? 'other' : 'unknown', turn: 0 }]
  const edges = [0, ...turns.flatMap(({ start, end }) => [start, end]), text.length]
  return edges.slice(1).map((end, i) => {
    const start = edges[i]!
    // between turns are their marks, and what the assistant says
    const speaker = i % 2 === 1 ? 'user' : isSaid(text.slice(start, end)) ? 'assistant' : 'other'
    return { start, end, speaker, turn: i }
  })
}

const MARKS =
  /<[|｜][\w▁ ]{1,40}[|｜]>|\[\/?INST\]|<\/?(?:start_of_turn|end_of_turn|s)>|\b(?:system|user|assistant|model|tool)\b/g

function isSaid(between: string): boolean {
  return between.replace(MARKS, '').trim() !== ''
}

const roles: Readonly<Record<string, Speaker>> = {
  user: 'user',
  system: 'user',
  developer: 'user',
  assistant: 'assistant',
}
