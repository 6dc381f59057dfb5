import type { Span } from '../json/json-spans.ts'
import { type ContextSlot, isLeftAlone, type PromptContext } from './body/prompt-context.ts'
import type { LaidOutMessage } from './layout.ts'
import { isOfSystem, wordsOutside } from './places/mark-spoken-of.ts'
import { findIndexFrom } from './scan/find-edges.ts'
import type { RankField } from './scan/find-rank-fields.ts'
import { identifyBlocks } from './to-context.ts'

/**
 * What to do with fields that only rank blocks, such as a score: state them after the list, leave them out, or keep
 * them. If they are kept, equal documents differ with every question, and nothing after the first is reused.
 */
export type VolatileFields = 'move' | 'drop' | 'keep'

/** A message and, for each of its contexts, whether its fields are cut. */
interface MessageToCut {
  readonly message: LaidOutMessage
  readonly isCut: readonly boolean[]
}

/**
 * Cuts the fields that rank blocks out of `texts`, and shifts the slots after them. A list is left alone if the prompt
 * refers to its positions, or if there is nowhere to state the values and they are not to be dropped. A context that
 * was sent before is cut if it was cut then.
 */
export function cutRanks(
  messages: readonly LaidOutMessage[],
  texts: string[],
  fields: VolatileFields,
): readonly LaidOutMessage[] {
  const isOpen = fields !== 'keep' && !messages.some((message) => speaksOfRanks(message, texts))
  return messages.map((message) => {
    const isCut = message.contexts.map((context, i) => {
      const past = message.past[i]
      return past === undefined ? isOpen && isToBeCut(message, context, texts, fields) : past.isCut === true
    })
    return isCut.includes(true) ? cutMessage({ message, isCut }, texts, fields !== 'drop') : message
  })
}

// words that show that these numbers serve more than the search that produced them
const RANKS =
  /(?<!\p{L})(?:scores?|scored|points?|ratings?|rated|ranks?|rankings?|distances?|confidence|certainty|similarity|examples?|punkte|bewertung(?:en)?|puntos|puntuaci(?:ón|ones)|notes?|分数|得分|评分|距离|スコア|点数)(?!\p{L})/iu
// in results of a tool that does not search, these may be the requested data
const OFTEN_DATA = /distance|rank$/i

/** Returns whether a message mentions such numbers, even if only to say how to use them. */
function speaksOfRanks(message: LaidOutMessage, texts: readonly string[]): boolean {
  const { role } = message.message
  return (role === 'user' || isOfSystem(message)) && RANKS.test(wordsOutside(message, texts))
}

function isToBeCut(
  { message: { role } }: LaidOutMessage,
  context: PromptContext,
  texts: readonly string[],
  fields: VolatileFields,
): boolean {
  const { slots, annotateAt, positional } = context
  const ranks = slots.flatMap((slot) => slot.ranks ?? [])
  if (ranks.length === 0 || isLeftAlone(context)) return false
  if (role === 'tool' && ranks.some(({ name }) => OFTEN_DATA.test(name))) return false
  if (fields === 'drop') return true
  // values are stated by label, so no two blocks may have the same label
  const labels = slots.map(({ text, label }, i) => (label ? texts[text]!.slice(label.start, label.end) : i))
  return annotateAt !== undefined && (positional || new Set(labels).size === labels.length)
}

function cutMessage({ message, isCut }: MessageToCut, texts: string[], areTold: boolean): LaidOutMessage {
  const fields = new Map<number, RankField[]>()
  for (const { text, ranks = [] } of message.contexts.flatMap(({ slots }, i) => (isCut[i] ? slots : []))) {
    const known = fields.get(text)
    if (known) known.push(...ranks)
    else fields.set(text, [...ranks])
  }
  const cuts = new Map([...fields].map(([text, own]) => [text, new Cuts(own)]))
  for (const [text, own] of cuts) texts[text] = own.leaveOut(texts[text]!)
  const contexts = message.contexts.map((context, i) => {
    const moved = moveContext(context, (text, offset) => cuts.get(text)?.move(offset) ?? offset)
    return isCut[i] ? toCut(moved, context, texts, areTold) : moved
  })
  return { ...message, contexts }
}

function toCut(
  moved: PromptContext,
  { slots }: PromptContext,
  texts: readonly string[],
  areTold: boolean,
): PromptContext {
  const held = moved.slots.map(({ ranks: _, ...slot }) => slot)
  const ids = held.map((slot) => identifyBlocks(texts[slot.text]!, [slot], moved.positional))
  const values = slots.map(({ ranks = [] }) => ranks.map(({ name, value }) => `${name} ${value}`).join(' '))
  return {
    ...moved,
    cut: { areTold, values },
    slots: held,
    blocks: ids.map(({ blocks }) => blocks[0]!),
    contents: ids.map(({ contents }) => contents[0]!),
  }
}

/** The stretches cut out of one text. */
class Cuts {
  readonly #spans: readonly Span[]
  /** total length of all stretches before each one */
  readonly #before: number[] = []

  constructor(spans: readonly Span[]) {
    this.#spans = spans.toSorted((a, b) => a.start - b.start)
    let length = 0
    for (const { start, end } of this.#spans) {
      this.#before.push(length)
      length += end - start
    }
    this.#before.push(length)
  }

  leaveOut(text: string): string {
    const ends = [0, ...this.#spans.map(({ end }) => end)]
    return ends.map((from, i) => text.slice(from, this.#spans[i]?.start)).join('')
  }

  /** Returns the new position of an offset that is not inside a cut stretch. */
  move(offset: number): number {
    return offset - this.#before[findIndexFrom(this.#spans, offset)]!
  }
}

function moveContext(context: PromptContext, move: (text: number, offset: number) => number): PromptContext {
  const { slots, annotateAt } = context
  return {
    ...context,
    slots: slots.map((slot) => moveSlot(slot, (offset) => move(slot.text, offset))),
    annotateAt: annotateAt && { text: annotateAt.text, offset: move(annotateAt.text, annotateAt.offset) },
  }
}

function moveSlot(slot: ContextSlot, move: (offset: number) => number): ContextSlot {
  const moved = <Own extends Span>(span: Own): Own => ({ ...span, start: move(span.start), end: move(span.end) })
  const { content, label, ranks } = slot
  return {
    ...moved(slot),
    content: moved(content),
    ...(label && { label: moved(label) }),
    ...(ranks && { ranks: ranks.map(moved) }),
  }
}
