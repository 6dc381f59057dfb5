import { addTo } from '#index/group-by.ts'
import type { PromptMessage } from '../body/prompt.ts'
import { type ContextSlot, type PromptContext, placeLabels, slotsByText } from '../body/prompt-context.ts'
import { outsideBlocks } from '../borders/list-closings.ts'
import { holdsCitations, labelFormOf } from '../citation-map.ts'
import type { Reason } from '../judge/reasons.ts'
import { repeatInOtherWords } from './find-parallel-lists.ts'
import { type JudgedList, judgeWords, speaksOf } from './judge-words.ts'
import { namesItself } from './names-itself.ts'
import { addRemarks, noRemarks, type Remarks, readCitations } from './read-remarks.ts'
import { headsAnOrder, readWords } from './read-words.ts'
import { ownWords } from './words/counted-words.ts'

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
  /** those that hold placeholders of media */
  readonly media: boolean
  /** the sender states that the order of lists means nothing */
  readonly isSet: boolean
}

const nothingStays: Stays = { numbers: false, shared: true, data: false, media: false, isSet: false }

/**
 * Marks contexts whose blocks are mentioned by position: in the text around them, in system messages, in later user or
 * assistant messages, in the blocks themselves, or in data that the model may write. None of these words are rewritten,
 * so the blocks they refer to must stay in place. Calls `refuse` with the reason and the first block of each list that
 * stays. Yields once per message, so that the work can be done in slices.
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
  const later = noRemarks()
  const shared = findSharedNumbers(messages, texts, stays)
  const rules = messages.filter(isOfSystem).map((message) => wordsOutside(message, texts))
  for (let place = messages.length - 1; place >= first; place--) {
    const message = messages[place]!
    const { role } = message.message
    const isOwn = isOpen(message)
    if (!isOwn && !isHeard(role)) continue
    const words = wordsOutside(message, texts)
    if (isOwn) {
      const said = {
        role,
        words,
        rules: isOfSystem(message) ? [] : rules,
        asked: askedBeside(place, messages, texts),
        later,
      }
      const contexts = message.contexts.map((context) => {
        if (!isMovable(context)) return context
        const isPaired = isPairedByPlace(context, message.contexts, words, texts)
        const others = isPaired ? 'order' : shared.get(context)
        const reason = others ?? judge(context, said, texts, stays)
        if (reason) refuse(reason, context.slots[0]!)
        return stay(context, reason, isSubject(said))
      })
      marked[place] = { ...message, contexts }
    }
    if (isHeard(role))
      addRemarks(later, role === 'assistant' ? readCitations(words) : readWords(words, 'message').remarks)
    yield
  }
  return marked
}

/**
 * Returns what the user asks about lists in a message of another role: in the user message after a system message, or
 * before a tool's.
 */
function askedBeside(place: number, messages: readonly Found[], texts: readonly string[]): string | undefined {
  const { role, isFollowed } = messages[place]!.message
  const isUser = (found: Found): boolean => found.message.role === 'user'
  if (role === 'user' && !isFollowed) return undefined
  const asking =
    role === 'tool' || role === 'function'
      ? messages.slice(0, place).findLast(isUser)
      : messages.slice(place + 1).find(isUser)
  return asking && wordsOutside(asking, texts)
}

/** Returns whether messages of this role may refer to earlier lists. */
function isHeard(role: string): boolean {
  return role === 'user' || role === 'assistant'
}

/** What is said about the contexts of a message, around them and elsewhere. */
interface Said {
  readonly role: string
  readonly words: string
  /** system messages */
  readonly rules: readonly string[]
  readonly asked: string | undefined
  readonly later: Remarks
}

/** Texts are left whole where somebody speaks of them; answers that are data may hold pointers. */
function stay(context: PromptContext, reason: Reason | undefined, isAbout: boolean): PromptContext {
  const isWhole = isAbout || (reason !== undefined && reason !== 'numbers')
  const whole = isWhole ? { ...context, isLeftWhole: true } : context
  return reason === undefined ? whole : { ...whole, isSpokenOf: true }
}

/** Returns whether texts are compared, quoted or counted, as anybody says. */
function isSubject({ words, rules, asked }: Said): boolean {
  const messages = asked === undefined ? [words] : [words, asked]
  return (
    messages.some((one) => readWords(one, 'message').roles.isSubject) ||
    rules.some((one) => readWords(one, 'rules').roles.isSubject)
  )
}

function judge(context: PromptContext, said: Said, texts: readonly string[], stays: Stays): Reason | undefined {
  const bound = findBound(context, said.role, texts, stays)
  if (bound) return bound
  const list = toJudged(context, texts, stays)
  if (!stays.isSet && headsAnOrder(headingOf(context, texts))) return 'order'
  for (const words of said.rules) {
    const reason = judgeWords(words, list, 'rules')
    if (reason) return reason
  }
  // what the system says around its own lists are rules, too
  const own = judgeWords(said.words, list, isRuling(said.role) ? 'rules' : 'message')
  if (own) return own
  const asked = said.asked === undefined ? undefined : judgeAsked(said, list)
  if (asked) return asked
  const heard = said.asked === undefined ? [said.words] : [said.words, said.asked]
  const remarks = [
    ...heard.map((words) => readWords(words, 'message').remarks),
    ...said.rules.map((words) => readWords(words, 'rules').remarks),
    said.later,
  ]
  const isNamed = speaksOf(said.later, list) || isNamedByOwnWord(remarks, context, texts) || namesItself(context, texts)
  return isNamed || holdsCitations(texts, context) ? 'named' : undefined
}

const LONGEST_HEADING = 200
const OPENING = /(?:\s|<[^<>\n]{1,80}>|```\w{0,10})+$/

/** Returns the line right above a list, without tags that open it. Empty if it announces nothing. */
function headingOf({ slots: [first] }: PromptContext, texts: readonly string[]): string {
  const above = texts[first!.text]!.slice(Math.max(0, first!.start - LONGEST_HEADING), first!.start).replace(
    OPENING,
    '',
  )
  const line = above.slice(above.lastIndexOf('\n') + 1)
  return /[:：)）*]$|^#/.test(line) ? line : ''
}

/** Numbers mentioned before a tool is called belong to another list. */
function judgeAsked({ role, asked }: Said, list: JudgedList): Reason | undefined {
  const isBefore = role === 'tool' || role === 'function'
  return judgeWords(asked!, isBefore ? { ...list, labels: [] } : list)
}

function toJudged(context: PromptContext, texts: readonly string[], { isSet }: Stays): JudgedList {
  return {
    ...labelFormOf(texts, context),
    blocks: context.slots.length,
    labels: placeLabels(context, texts),
    prefix: context.labelPrefix,
    isPositional: context.positional,
    isLabelled: context.slots.some(({ label }) => label),
    isSet,
  }
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

/**
 * Returns the lists since the last answer that have a number in common with another one: nobody knows which of them an
 * answer cites by it. Earlier lists were answered before, so the last one is meant.
 */
function findSharedNumbers(
  messages: readonly Found[],
  texts: readonly string[],
  stays: Stays,
): ReadonlyMap<PromptContext, Reason> {
  if (!stays.shared) return new Map()
  const since = messages.findLastIndex(({ message }) => message.role === 'assistant') + 1
  const numbered = messages.slice(since).flatMap(({ contexts }) => contexts.filter(({ positional }) => positional))
  const byLabel = new Map<string, PromptContext[]>()
  for (const context of numbered)
    for (const label of placeLabels(context, texts)) addTo(byLabel, context.labelPrefix + label, context)
  const shared = [...byLabel.values()].filter(({ length }) => length > 1).flat()
  return new Map(shared.map((context) => [context, 'numbers']))
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
  return isRuling(role)
}

function isRuling(role: string): boolean {
  return role === 'system' || role === 'developer'
}

function isOpen({ contexts, past }: Found): boolean {
  return contexts.some((context, place) => past[place] === undefined && isMovable(context))
}

// as templates of models and processors write them: `<image>`, `<|audio_pad|>`, `[IMG]`, `<__media__>`, `<image_1>`
const MEDIA =
  /<\|?_{0,2}\|?(?:start_of_)?(?:image|img|audio|video|media|vision|picture|speech|sound)[\w-]{0,20}\|?(?: ?\/)?>|\[(?:IMG|IMAGE|AUDIO|VIDEO)[^\]\n]{0,12}\]/i

/** Returns why a list stays as received because of what the request's members ask for. */
function findBound(context: PromptContext, role: string, texts: readonly string[], stays: Stays): Reason | undefined {
  // the engine numbers documents in a way that is not known here
  if (role === 'documents' && !stays.isSet) return 'numbers'
  if (stays.data && !stays.isSet) return 'task'
  if (stays.numbers && context.positional) return 'numbers'
  const hasMedia =
    stays.media && context.slots.some(({ text, start, end }) => MEDIA.test(texts[text]!.slice(start, end)))
  return hasMedia ? 'order' : undefined
}

function isMovable({ slots, isResult }: PromptContext): boolean {
  return !isResult && slots.length > 1
}

/**
 * Returns the text of a message outside its blocks. What a template has between two blocks is markup, and says nothing of
 * them.
 */
export function wordsOutside(
  { message, contexts }: Pick<Found, 'message' | 'contexts'>,
  texts: readonly string[],
): string {
  const slots = slotsByText(contexts)
  const joined = new Set(contexts.flatMap((context) => (isOfTemplate(context) ? context.slots.slice(1) : [])))
  const pieces = message.texts.flatMap((place) => {
    const own = (slots.get(place) ?? []).map(({ slot }) => slot)
    return outsideBlocks(texts[place]!, own).map((piece, i) => (joined.has(own[i]!) ? '' : piece))
  })
  return pieces.join('\n\n')
}

function isOfTemplate({ certain }: PromptContext): boolean {
  return certain?.by === 'learnt' || certain?.by === 'template'
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
