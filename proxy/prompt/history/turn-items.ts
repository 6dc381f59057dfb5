import type { SentOrder } from '#index/conversation-store.ts'
import type { LabelForm } from '../../answer/citations/citation-labels.ts'
import type { Span } from '../../common/json/json-spans.ts'
import { type PromptContext, placeLabels } from '../body/prompt-context.ts'
import { labelFormOf } from '../citation-map.ts'
import type { LaidOutMessage } from '../layout.ts'
import { findAllTurns } from '../scan/find-turns.ts'

/** Who wrote a text; `unknown` in a rendered prompt without marks of turns. */
type Speaker = 'user' | 'assistant' | 'other' | 'unknown'

export interface ListItem {
  /** its place among the items */
  readonly at: number
  readonly context: PromptContext
  /** as received, and how they are written; empty and undefined if they do not belong to places */
  readonly labels: readonly string[]
  readonly form: LabelForm | undefined
  /** how it was sent, if it was sent in another order than received */
  readonly moved: SentOrder | undefined
  /** index of its message, and its own among the message's contexts */
  readonly message: number
  readonly place: number
}

/** A stretch of text outside lists. */
export interface TextItem extends Span {
  readonly at: number
  readonly speaker: Speaker
  readonly message: number
  /** index among the texts of the body */
  readonly text: number
  readonly turn: string
}

/** The lists of a prompt and the texts around them, in the order of the prompt. */
export class TurnItems {
  readonly lists: ListItem[] = []
  readonly texts: TextItem[] = []
  /** turns that have lists */
  readonly #listed = new Set<string>()
  #count = 0

  constructor(messages: readonly LaidOutMessage[], texts: readonly string[]) {
    for (const [message, laidOut] of messages.entries()) {
      for (const text of laidOut.message.texts) this.#read(laidOut, message, text, texts)
    }
  }

  /** Whether the turn of a text has lists of its own. */
  isListed({ turn }: TextItem): boolean {
    return this.#listed.has(turn)
  }

  /** Returns the lists before a text. */
  listsBefore({ at }: TextItem): ListItem[] {
    return this.lists.filter((list) => list.at < at)
  }

  /** Returns the texts of the turns after a list, from the first answer on. */
  textsAfter(list: ListItem): TextItem[] {
    const answer = this.texts.findIndex(({ at, speaker }) => at > list.at && isAnswering[speaker])
    return answer < 0 ? [] : this.texts.slice(answer)
  }

  #read(laidOut: LaidOutMessage, message: number, text: number, texts: readonly string[]): void {
    const lists = laidOut.contexts.flatMap((context, place) => {
      const own = context.slots.filter((slot) => slot.text === text)
      // a list that began in an earlier text is there already
      const isFirst = context.slots[0]!.text === text
      return own.length > 0 ? [{ context, place, isFirst, start: own[0]!.start, end: own.at(-1)!.end }] : []
    })
    for (const stretch of speakersOf(laidOut, texts[text]!)) {
      const turn = `${message}/${stretch.turn}`
      let { start } = stretch
      const addText = (end: number): void => {
        const { speaker } = stretch
        if (start < end) this.texts.push({ at: this.#count++, speaker, message, text, turn, start, end })
      }
      for (const { context, place, isFirst, ...list } of lists) {
        if (list.start < stretch.start || list.start >= stretch.end) continue
        addText(list.start)
        start = list.end
        if (!isFirst) continue
        const labels = placeLabels(context, texts)
        const form = labelFormOf(texts, context)
        const moved = movedIn(laidOut, place)
        this.lists.push({ at: this.#count++, context, labels, form, moved, message, place })
        this.#listed.add(turn)
      }
      addText(stretch.end)
    }
  }
}

const isAnswering: Readonly<Record<Speaker, boolean>> = { assistant: true, unknown: true, user: false, other: false }

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
  const turns = findAllTurns(text) ?? []
  // the last list was sent before only in this very prompt, in which nothing is later
  const isRepeated = past[contexts.length - 1] !== undefined
  if (turns.filter(({ isAnswer }) => !isAnswer).length <= 1)
    return [{ start: 0, end: text.length, speaker: isRepeated ? 'other' : 'unknown', turn: 0 }]
  return turns.map(({ start, end, isAnswer }, turn) => {
    const isSaid = text.slice(start, end).trim() !== ''
    return { start, end, speaker: !isAnswer ? 'user' : isSaid ? 'assistant' : 'other', turn }
  })
}

const roles: Readonly<Record<string, Speaker>> = {
  user: 'user',
  system: 'user',
  developer: 'user',
  assistant: 'assistant',
}
