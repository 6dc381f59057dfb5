import type { PromptMessage } from '../body/prompt.ts'
import { type PromptContext, placeLabels, slotsByText } from '../body/prompt-context.ts'
import { findEndBehindClosing } from '../borders/find-numbered-closings.ts'
import { namesItself } from './names-itself.ts'
import { type Remarks, readCitations, readRemarks } from './read-remarks.ts'

interface Found {
  readonly message: PromptMessage
  readonly contexts: readonly PromptContext[]
  /** how its contexts were sent before: nothing changes that */
  readonly past: readonly unknown[]
}

/** How a model can name blocks where nobody maps the names back. */
export interface UnmappedNames {
  /** in its answer, which is data */
  readonly inAnswer: boolean
  /** when it calls tools: by what it was given as data itself, be it the number of a button */
  readonly inCalls: boolean
}

/**
 * Marks the contexts whose blocks are spoken of by their place: by what stands around them, by what the user and the
 * assistant say later, by the blocks themselves, or by what the model may write as data. None of these words is
 * rewritten, so what they speak of must stay where it is.
 */
export function markSpokenOf<Message extends Found>(
  messages: readonly Message[],
  texts: readonly string[],
  unmapped: UnmappedNames = { inAnswer: false, inCalls: false },
): Message[] {
  const marked = [...messages]
  const later = { bracketed: new Set<string>(), worded: new Set<string>(), isCounted: false, isOrdered: false }
  const first = messages.findIndex(isOpen)
  for (let place = messages.length - 1; place >= first && first >= 0; place--) {
    const message = messages[place]!
    const { role } = message.message
    const isOwn = isOpen(message)
    if (!isOwn && role !== 'user' && role !== 'assistant') continue
    const own = readOutside(message, texts)
    if (isOwn) {
      const contexts = message.contexts.map((context) => {
        const isSpokenOf = own.isOrdered || speaksOf(own, context, texts) || speaksOf(later, context, texts)
        return isMovable(context) && (isSpokenOf || namesItself(context, texts) || isBound(context, unmapped))
          ? { ...context, isSpokenOf: true }
          : context
      })
      marked[place] = { ...message, contexts }
    }
    if (role !== 'user' && role !== 'assistant') continue
    for (const name of own.bracketed) later.bracketed.add(name)
    for (const name of own.worded) later.worded.add(name)
    later.isCounted ||= own.isCounted
  }
  return marked
}

function isOpen({ contexts, past }: Found): boolean {
  return contexts.some((context, place) => past[place] === undefined && isMovable(context))
}

/** Whether its labels may come back unmapped. Those of data stand inside of what they label, as members of its object. */
function isBound({ positional, slots }: PromptContext, { inAnswer, inCalls }: UnmappedNames): boolean {
  return positional && (inAnswer || (inCalls && slots.some(({ label, content }) => label!.start >= content.start)))
}

function isMovable({ slots, isResult }: PromptContext): boolean {
  return !isResult && slots.length > 1
}

/** What a message says outside of its blocks. */
function readOutside({ message, contexts }: Found, texts: readonly string[]): Remarks {
  const slots = slotsByText(contexts)
  const pieces = message.texts.flatMap((place) => {
    let at = 0
    const around = (slots.get(place) ?? []).map(({ slot: { start, end, label } }) => {
      const piece = texts[place]!.slice(at, start)
      // what closes a block by its number says no more than its label
      const number = label && Number(texts[place]!.slice(label.start, label.end))
      at = number === undefined ? end : findEndBehindClosing(texts[place]!, end, number)
      return piece
    })
    return [...around, texts[place]!.slice(at)]
  })
  const read = message.role === 'assistant' ? readCitations : readRemarks
  return read(pieces.join('\n\n'))
}

function speaksOf(remarks: Remarks, context: PromptContext, texts: readonly string[]): boolean {
  if (remarks.isCounted) return true
  const labels = placeLabels(context, texts)
  const isLabelled = context.slots.some(({ label }) => label)
  return labels.some((label) => remarks.worded.has(label) || (isLabelled && remarks.bracketed.has(label)))
}
