import type { PromptMessage } from '../body/prompt.ts'
import { type PromptContext, placeLabels, slotsByText } from '../body/prompt-context.ts'
import { findEndBehindClosing } from '../borders/find-numbered-closings.ts'
import { asksForNumber } from '../judge/asks-for-number.ts'
import { ownWords } from './counted-words.ts'
import { findParallelLists, repeatInOtherWords } from './find-parallel-lists.ts'
import { namesItself } from './names-itself.ts'
import { saysInOrder } from './order-words.ts'
import { type Remarks, readCitations, readRemarks } from './read-remarks.ts'

interface Found {
  readonly message: PromptMessage
  readonly contexts: readonly PromptContext[]
  /** how its contexts were sent before, which must not change */
  readonly past: readonly unknown[]
}

/** Which lists of a request stay as received, whatever its words say. */
export interface Stays {
  /** numbered ones: their numbers may come back where nobody maps them */
  readonly numbers: boolean
  /** all: the answer is data that may follow their order */
  readonly data: boolean
  /** those that hold placeholders of media */
  readonly media: boolean
  /** the sender states that the order of lists means nothing */
  readonly isSet: boolean
}

const nothingStays: Stays = { numbers: false, data: false, media: false, isSet: false }

/**
 * Marks contexts whose blocks are mentioned by position: in the text around them, in system messages, in later user or
 * assistant messages, in the blocks themselves, or in data that the model may write. None of these words are rewritten,
 * so the blocks they refer to must stay in place. Yields once per message, so that the work can be done in slices.
 */
export function* markSpokenOf<Message extends Found>(
  messages: readonly Message[],
  texts: readonly string[],
  stays: Stays = nothingStays,
): Generator<void, Message[]> {
  const marked = [...messages]
  const first = messages.findIndex(isOpen)
  if (first < 0) return marked
  const later = noRemarks()
  const rules = noRemarks()
  let isByTime = false
  let isByNumber = false
  for (const message of messages.filter(isOfSystem)) {
    const words = wordsOutside(message, texts)
    isByTime ||= saysInOrder(words)
    isByNumber ||= asksForNumber(words)
    // numbers in brackets are mostly how to cite, and an order is that of the steps to take
    addRemarks(rules, { ...readRemarks(words), bracketed: new Set() })
    yield
  }
  const asked = new AskedRemarks(messages, texts)
  for (let place = messages.length - 1; place >= first; place--) {
    const message = messages[place]!
    const { role } = message.message
    const isOwn = isOpen(message)
    if (!isOwn && !isHeard(role)) continue
    const words = wordsOutside(message, texts)
    const own = role === 'assistant' ? readCitations(words) : readRemarks(words)
    if (isOwn) {
      const said = {
        role,
        words,
        remarks: [own, later, rules, ...asked.of(place)],
        isByTime,
        isByNumber: isByNumber || asksForNumber(words),
      }
      const contexts = message.contexts.map((context) => {
        const isPaired = isPairedByPlace(context, message.contexts, words, texts)
        return isPaired ? { ...context, isSpokenOf: true } : mark(context, said, texts, stays)
      })
      marked[place] = { ...message, contexts }
    }
    if (isHeard(role)) addRemarks(later, own)
    yield
  }
  return marked
}

/**
 * What the user asks about lists in messages of other roles: in the user message after a system message, or before a
 * tool's.
 */
class AskedRemarks {
  readonly #messages: readonly Found[]
  readonly #texts: readonly string[]
  readonly #read = new Map<number, Remarks>()

  constructor(messages: readonly Found[], texts: readonly string[]) {
    this.#messages = messages
    this.#texts = texts
  }

  of(place: number): Remarks[] {
    const { role, isFollowed } = this.#messages[place]!.message
    const isUser = (found: Found): boolean => found.message.role === 'user'
    if (role === 'user' && !isFollowed) return []
    const front = role === 'tool' || role === 'function'
    const asking = front
      ? this.#messages.slice(0, place).findLastIndex(isUser)
      : this.#messages.findIndex((found, i) => i > place && isUser(found))
    if (asking < 0) return []
    const known = this.#read.get(asking) ?? readRemarks(wordsOutside(this.#messages[asking]!, this.#texts))
    this.#read.set(asking, known)
    // numbers mentioned before a list belong to another list
    return [front ? { ...known, bracketed: new Set(), worded: new Set(), numberedWords: new Set() } : known]
  }
}

/** Remarks of several messages together. */
interface AddedRemarks extends Remarks {
  readonly bracketed: Set<string>
  readonly worded: Set<string>
  readonly countedWords: Set<string>
  readonly numberedWords: Set<string>
  isCounted: boolean
  isPartCounted: boolean
}

function noRemarks(): AddedRemarks {
  return {
    bracketed: new Set(),
    worded: new Set(),
    countedWords: new Set(),
    numberedWords: new Set(),
    isCounted: false,
    isPartCounted: false,
    // words about an order refer to their own message
    isOrdered: false,
  }
}

function addRemarks(all: AddedRemarks, own: Remarks): void {
  for (const name of own.bracketed) all.bracketed.add(name)
  for (const name of own.worded) all.worded.add(name)
  for (const word of own.countedWords) all.countedWords.add(word)
  for (const word of own.numberedWords) all.numberedWords.add(word)
  all.isCounted ||= own.isCounted
  all.isPartCounted ||= own.isPartCounted
}

/** Returns whether messages of this role may refer to earlier lists. */
function isHeard(role: string): boolean {
  return role === 'user' || role === 'assistant'
}

/** What is said about the contexts of a message, around them and in later messages. */
interface Said {
  readonly role: string
  readonly words: string
  readonly remarks: readonly Remarks[]
  readonly isByTime: boolean
  /** the answer is to be a number, which nobody maps back */
  readonly isByNumber: boolean
}

function mark(context: PromptContext, said: Said, texts: readonly string[], stays: Stays): PromptContext {
  if (!isMovable(context)) return context
  const isStaying =
    isInOrder(context, said) ||
    (said.isByNumber && context.positional) ||
    said.remarks.some((remarks) => speaksOf(remarks, context, texts)) ||
    isNamedByOwnWord(said.remarks, context, texts) ||
    namesItself(context, texts) ||
    isBound(context, said.role, texts, stays)
  return isStaying ? { ...context, isSpokenOf: true } : context
}

/** Returns whether words say that blocks are in order, or contain a list with as many members as there are blocks. */
function isInOrder({ slots }: PromptContext, { words, remarks, isByTime }: Said): boolean {
  return (
    isByTime ||
    remarks.some(({ isOrdered }) => isOrdered) ||
    saysInOrder(words) ||
    findParallelLists(words).has(slots.length)
  )
}

/**
 * Returns whether each member of a list belongs to one of another list of its message by position: there are equally
 * many, and one of the two holds only names, or the words around say that one repeats the other.
 */
function isPairedByPlace(
  context: PromptContext,
  contexts: readonly PromptContext[],
  words: string,
  texts: readonly string[],
): boolean {
  const alike = contexts.filter((other) => other !== context && other.slots.length === context.slots.length)
  if (alike.length === 0) return false
  return holdsNames(context, texts) || alike.some((other) => holdsNames(other, texts)) || repeatInOtherWords(words)
}

const LONGEST_NAME = 60
const TAG = /<[^<>\n]{1,80}>/g

function holdsNames({ slots }: PromptContext, texts: readonly string[]): boolean {
  return slots.every(({ text, content: { start, end } }) => {
    if (end - start > 4 * LONGEST_NAME) return false
    const words = texts[text]!.slice(start, end).replace(TAG, ' ').trim()
    return words.length <= LONGEST_NAME && !/[.!?。！？\n]/.test(words)
  })
}

/** Returns whether a message is from the system. What it says about blocks applies to the lists of all messages. */
export function isOfSystem({ message: { role } }: Found): boolean {
  return role === 'system' || role === 'developer'
}

function isOpen({ contexts, past }: Found): boolean {
  return contexts.some((context, place) => past[place] === undefined && isMovable(context))
}

// as templates of models and processors write them: `<image>`, `<|audio_pad|>`, `[IMG]`, `<__media__>`, `<image_1>`
const MEDIA = /<\|?_{0,2}\|?(?:start_of_)?(?:image|img|audio|video|media|vision|picture|speech|sound)[\w-]{0,20}\|?(?: ?\/)?>|\[(?:IMG|IMAGE|AUDIO|VIDEO)[^\]\n]{0,12}\]/i

/** Returns whether a list stays as received because of what the request's members ask for. */
function isBound(context: PromptContext, role: string, texts: readonly string[], stays: Stays): boolean {
  // the engine numbers documents in a way that is not known here
  if ((role === 'documents' || stays.data) && !stays.isSet) return true
  if (stays.numbers && context.positional) return true
  return stays.media && context.slots.some(({ text, start, end }) => MEDIA.test(texts[text]!.slice(start, end)))
}

function isMovable({ slots, isResult }: PromptContext): boolean {
  return !isResult && slots.length > 1
}

/** Returns the text of a message outside its blocks. */
export function wordsOutside(
  { message, contexts }: Pick<Found, 'message' | 'contexts'>,
  texts: readonly string[],
): string {
  const slots = slotsByText(contexts)
  const pieces = message.texts.flatMap((place) => {
    let at = 0
    const around = (slots.get(place) ?? []).map(({ slot: { start, end, label } }) => {
      const piece = texts[place]!.slice(at, start)
      // a numbered closing of a block says no more than its label
      const number = label && Number(texts[place]!.slice(label.start, label.end))
      at = number === undefined ? end : findEndBehindClosing(texts[place]!, end, number)
      return piece
    })
    return [...around, texts[place]!.slice(at)]
  })
  return pieces.join('\n\n')
}

function speaksOf(remarks: Remarks, context: PromptContext, texts: readonly string[]): boolean {
  if (remarks.isCounted) return true
  const labels = placeLabels(context, texts)
  const isLabelled = context.slots.some(({ label }) => label)
  if (remarks.isPartCounted && !isLabelled) return true
  return labels.some((label) => remarks.worded.has(label) || (isLabelled && remarks.bracketed.has(label)))
}

/** Returns whether a block is counted or numbered with a word that the prompt itself uses for the context's blocks. */
function isNamedByOwnWord(remarks: readonly Remarks[], context: PromptContext, texts: readonly string[]): boolean {
  if (remarks.every(({ countedWords, numberedWords }) => countedWords.size + numberedWords.size === 0)) return false
  const labels = placeLabels(context, texts)
  const own = [...ownWords(context, texts)]
  return remarks.some(({ countedWords, numberedWords }) =>
    own.some((word) => countedWords.has(word) || labels.some((label) => numberedWords.has(`${word} ${label}`))),
  )
}
