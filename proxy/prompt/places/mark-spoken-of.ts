import { groupBy } from '#index/group-by.ts'
import type { PromptMessage } from '../body/prompt.ts'
import { type ContextSlot, type PromptContext, placeLabels } from '../body/prompt-context.ts'
import { holdsCitations, labelFormOf } from '../citation-map.ts'
import type { Reason } from '../judge/reasons.ts'
import { judgeWords, readWords, type Speaker, speaksOf } from './judge-words.ts'
import { namesItself, pointsBeside } from './own-marks.ts'
import { type Remarks, readCitations } from './read-remarks.ts'
import { toJudgedList } from './to-judged-list.ts'
import { isOfSystem, wordsOutside } from './words-outside.ts'

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
  /** numbered ones that have a number in common: an answer that cites it may mean either list */
  readonly shared: boolean
  /** all: the answer is data that may follow their order */
  readonly data: boolean
  /** how many pictures, sounds and videos there are: lists that hold placeholders of them, or have as many blocks */
  readonly media: number
  /** the sender states that the order of lists means nothing */
  readonly isSet: boolean
}

export const nothingStays: Stays = { numbers: false, shared: true, data: false, media: 0, isSet: false }

/**
 * Marks contexts whose order must stay: what the system or the user says in any message forbids a move, or blocks are
 * mentioned by position, also in later answers, in the blocks themselves, or in data that the model may write. None of
 * these words are rewritten. Calls `refuse` with the reason and the first block of each list that stays. Yields now and
 * then, so that the work can be done in slices.
 */
export function* markSpokenOf<Message extends Found>(
  messages: readonly Message[],
  texts: readonly string[],
  stays: Stays = nothingStays,
  refuse: (reason: Reason, first: ContextSlot) => void = () => {},
): Generator<void, Message[]> {
  const marked = [...messages]
  const first = messages.findIndex(isOpen)
  if (first < 0) return marked
  const later = new Set<string>()
  const shared = findSharedNumbers(messages, texts, stays)
  const asked = yield* hearAll(messages, texts)
  for (let place = messages.length - 1; place >= first; place--) {
    const message = messages[place]!
    const { role } = message.message
    const isOwn = isOpen(message)
    const words = isOwn || role === 'assistant' ? (asked.get(place)?.whole ?? wordsOutside(message, texts)) : ''
    if (isOwn) {
      const own = { place, speaker: speakerOf(message), words, whole: words }
      const heard = [own, ...[...asked.values()].filter((other) => other.place !== place)]
      const isAbout = heard.some((one) => readWords(one.words, one.speaker).said.has('subject'))
      const contexts = message.contexts.map((context) => {
        if (!isMovable(context)) return context
        const isPaired = isPairedByPlace(context, message.contexts, own, texts)
        const bound = isPaired ? 'order' : findBound(context, role, texts, stays, shared)
        const reason = bound ?? judge(context, { place, role, heard, later }, texts, stays)
        if (reason) refuse(reason, context.slots[0]!)
        return stay(context, reason, isAbout)
      })
      marked[place] = { ...message, contexts }
    }
    if (role === 'assistant')
      for (const remark of [...readCitations(words), ...readWords(words, 'rules').remarks]) later.add(remark)
    yield
  }
  return marked
}

/** What somebody says about lists. */
export interface Heard {
  /** the beginning and the end of them, if they are long */
  readonly words: string
  readonly whole: string
  readonly speaker: Speaker
}

/** In which message it is said. */
interface HeardAt extends Heard {
  readonly place: number
}

/** More words than this are no request: a document in which no list was found. */
const mostWords = 8_192

/** Reads another message than that of a list; what the system says around its own lists are rules, too. */
export function toHeard(found: Found, texts: readonly string[]): Heard {
  const whole = wordsOutside(found, texts)
  const isLong = whole.length > mostWords
  const words = isLong ? `${whole.slice(0, mostWords / 2)}\n\n${whole.slice(-mostWords / 2)}` : whole
  return { words, whole, speaker: speakerOf(found) }
}

function speakerOf(found: Found): Speaker {
  return isOfSystem(found) ? 'rules' : 'message'
}

/** What users say is heard from the newest on, up to so many characters. */
const mostHeard = 65_536

/** Reads what the system and the user say in all messages, by place, some thousand characters per step. */
function* hearAll(messages: readonly Found[], texts: readonly string[]): Generator<void, ReadonlyMap<number, HeardAt>> {
  const all = new Map<number, HeardAt>()
  let [heard, step] = [0, 0]
  for (let place = messages.length - 1; place >= 0; place--) {
    const message = messages[place]!
    // what the caller has begun the answer with asks, too
    const isBegun = place === messages.length - 1 && message.message.role === 'assistant'
    if (!(isAsking(message) || isBegun) || (heard > mostHeard && !isOfSystem(message))) continue
    const one = { place, ...toHeard(message, texts) }
    heard += one.words.length
    // remembered for the lists
    readWords(one.words, one.speaker)
    all.set(place, one)
    if (heard - step < mostWords / 2) continue
    step = heard
    yield
  }
  return all
}

/** Whether a message may say what is to be done with the lists of others. */
function isAsking(found: Found): boolean {
  return isOfSystem(found) || found.message.role === 'user'
}

/** Texts are left whole where somebody speaks of them; answers that are data may hold pointers. */
function stay(context: PromptContext, reason: Reason | undefined, isAbout: boolean): PromptContext {
  const isWhole = isAbout || (reason !== undefined && reason !== 'numbers')
  const whole = isWhole ? { ...context, isLeftWhole: true } : context
  return reason === undefined ? whole : { ...whole, isSpokenOf: true }
}

/** What is said about the lists of a message. */
interface Hearing {
  readonly place: number
  readonly role: string
  readonly heard: readonly HeardAt[]
  /** what answers behind it cite */
  readonly later: Remarks
}

function judge(
  context: PromptContext,
  { place, role, heard, later }: Hearing,
  texts: readonly string[],
  { isSet }: Stays,
): Reason | undefined {
  if (!isSet && readWords(headingOf(context, texts), 'message').said.has('head')) return 'order'
  const form = labelFormOf(texts, context)
  const labels = placeLabels(context, texts)
  const list = toJudgedList(context, texts, { form, labels, isSet })
  // what was asked before names and numbers other lists, but a tool may have been called for what is named
  const before = role === 'tool' || role === 'function' ? { ...list, labels: [] } : { ...list, isNamed: false }
  for (const { place: said, words, speaker } of heard) {
    const isBefore = said < place && speaker === 'message'
    const reason = judgeWords(words, isBefore ? before : list, speaker)
    if (reason) return reason
  }
  if (speaksOf(later, list) || namesItself(context, texts) || pointsBeside(context, texts)) return 'named'
  return form && holdsCitations(texts, context, form, labels) ? 'named' : undefined
}

const LONGEST_HEADING = 200
const OPENING = /(?:\s|<[^<>\n]{1,80}>|```\w{0,10})+$/
const NAME = /(?<=<)[a-z_-]{1,40}(?=[ >])/gi

/** Returns the names of the tags that open a list, and the line above them, if it announces something. */
function headingOf({ slots: [first] }: PromptContext, texts: readonly string[]): string {
  const before = texts[first!.text]!.slice(Math.max(0, first!.start - LONGEST_HEADING), first!.start)
  const opening = OPENING.exec(before)?.[0] ?? ''
  const above = before.slice(0, before.length - opening.length)
  const line = above.slice(above.lastIndexOf('\n') + 1)
  const names = [...opening.matchAll(NAME)].map(([name]) => name.replaceAll(/[_-]/g, ' '))
  return [...names, /[:：)）*]$|^#/.test(line) ? line : ''].join('\n')
}

const TRANSLATED = /_(?:de|en|es|fr|it|ja|ko|pt|ru|zh|translated)>/i

/**
 * Returns whether each member of a list belongs to one of another list of its message by position: there are equally
 * many, and one of the two holds only names, or the words around say that one repeats the other.
 */
function isPairedByPlace(
  context: PromptContext,
  contexts: readonly PromptContext[],
  { words, speaker }: Heard,
  texts: readonly string[],
): boolean {
  const alike = contexts.filter((other) => other !== context && other.slots.length === context.slots.length)
  if (alike.length === 0) return false
  if (holdsNames(context, texts) || alike.some((other) => holdsNames(other, texts))) return true
  return readWords(words, speaker).said.has('in_other_words') || TRANSLATED.test(words)
}

/**
 * Returns the lists since the last answer that have a number in common with another one: nobody knows which of them an
 * answer cites by it. Earlier lists were answered before, so the last one is meant.
 */
function findSharedNumbers(
  messages: readonly Found[],
  texts: readonly string[],
  { shared }: Stays,
): ReadonlySet<PromptContext> {
  const since = messages.findLastIndex(({ message }) => message.role === 'assistant') + 1
  const numbered = messages.slice(shared ? since : messages.length).flatMap(({ contexts }) => contexts)
  const labels = numbered.flatMap((context) =>
    context.positional
      ? placeLabels(context, texts).map((label) => ({ context, name: context.labelPrefix + label }))
      : [],
  )
  const alike = [...groupBy(labels, ({ name }) => name).values()].filter(({ length }) => length > 1)
  return new Set(alike.flat().map(({ context }) => context))
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

function isOpen({ contexts, past }: Found): boolean {
  return contexts.some((context, place) => past[place] === undefined && isMovable(context))
}

// as templates of models and processors write them: `<image>`, `<|audio_pad|>`, `[IMG]`, `<__media__>`, `<image_1>`
const MEDIA =
  /<\|?_{0,2}\|?(?:start_of_)?(?:image|img|audio|video|media|vision|picture|speech|sound)[\w-]{0,20}\|?(?: ?\/)?>|\[(?:IMG|IMAGE|AUDIO|VIDEO)[^\]\n]{0,12}\]/i

/** Returns why a list stays as received because of what the request's members ask for. */
function findBound(
  context: PromptContext,
  role: string,
  texts: readonly string[],
  stays: Stays,
  shared: ReadonlySet<PromptContext>,
): Reason | undefined {
  if (shared.has(context)) return 'numbers'
  // the engine numbers documents in a way that is not known here
  if (role === 'documents' && !stays.isSet) return 'numbers'
  if (stays.data && !stays.isSet) return 'task'
  if (stays.numbers && context.positional) return 'numbers'
  if (stays.media === 0) return undefined
  const { slots } = context
  const hasMedia = slots.some(({ text, start, end }) => MEDIA.test(texts[text]!.slice(start, end)))
  return hasMedia || stays.media === slots.length ? 'order' : undefined
}

function isMovable({ slots, isResult }: PromptContext): boolean {
  return !isResult && slots.length > 1
}
