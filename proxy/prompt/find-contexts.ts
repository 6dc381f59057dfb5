import { type BlockId, toBlockId } from '#index/context-block.ts'
import { type CertainFinder, type CertainList, preferCertain } from '../chunks/certain-list.ts'
import { elementSpans } from '../json-spans.ts'
import { areWholeParts } from './are-whole-parts.ts'
import { type BlockSpan, type ContextList, mostBlocks } from './context-list.ts'
import { findSureLists } from './find-context-lists.ts'
import { findContentEnd, findContentStart, findIndexFrom } from './find-edges.ts'
import { isLookalike } from './find-lookalikes.ts'
import { findTurns } from './find-turns.ts'
import { leaveOutAnswers } from './leave-out-answers.ts'
import type { PromptMessage } from './prompt.ts'
import type { ContextSlot, PromptContext } from './prompt-context.ts'

/** Roles whose texts may hold context blocks; what an assistant wrote is never touched. */
const rolesWithContext = new Set(['system', 'developer', 'user', 'tool', 'function'])

/** How text parts are set apart when a message is searched as one text. */
const partSeparator = '\n\n'

/** Blocks that patterns of the user found, by text. */
export type PatternLists = ReadonlyMap<number, readonly ContextList[]>

/** The contexts of a message. */
export interface FoundContexts {
  readonly contexts: PromptContext[]
  /** there are none, but its text looks as if it held some: it is left alone */
  readonly isUnsure: boolean
  /** those that would be found if no chunk were known, where that makes a difference */
  readonly unaided?: readonly PromptContext[] | undefined
}

/**
 * Finds the contexts of one message (CONTRACT §3): documents given as such; lists with markers, also across its text
 * parts; without any, the text parts of a user message that come before the last one, which is the question, and the
 * results of tools; at last what the user's own patterns found.
 */
export function searchMessage(
  message: PromptMessage,
  texts: readonly string[],
  patternLists?: PatternLists,
  certain?: CertainFinder,
): FoundContexts {
  if (message.role === 'documents') return { contexts: findDocuments(message.texts[0]!, texts), isUnsure: false }
  if (!rolesWithContext.has(message.role) || message.texts.length === 0) return { contexts: [], isUnsure: false }
  const marked = findMarkedContexts(message, texts, certain)
  const orUnmarked = (contexts: readonly PromptContext[]): readonly PromptContext[] =>
    contexts.length > 0 ? contexts : findUnmarked(message, texts, marked, patternLists)
  const contexts = [...orUnmarked(marked.contexts)]
  const unaided = marked.unaided && orUnmarked(marked.unaided)
  return { contexts, isUnsure: contexts.length === 0 && (marked.isUnsure || marked.isSpanning), unaided }
}

/** The contexts alone. */
export function findContexts(
  message: PromptMessage,
  texts: readonly string[],
  patternLists?: PatternLists,
): PromptContext[] {
  return searchMessage(message, texts, patternLists).contexts
}

function findUnmarked(
  message: PromptMessage,
  texts: readonly string[],
  { isSpanning }: MarkedContexts,
  patternLists?: PatternLists,
): PromptContext[] {
  const patterned = message.texts.flatMap((text) => {
    const found = patternLists?.get(text) ?? []
    const lists = leaveOutAnswers(texts[text]!, leaveOutTurns(texts[text]!, found, message.isRendered ?? false))
    return lists.map((list) => toContext(list, texts[text]!, () => ({ text, start: 0 })))
  })
  if (patterned.length > 0) return patterned
  if (isToolRole(message.role)) return message.texts.map((text) => toResult(text, texts))
  const parts = message.texts.slice(0, -1)
  if (message.role !== 'user' || !message.isTextOnly || parts.length < 2 || parts.length > mostBlocks) return []
  if (isSpanning || !areWholeParts(message.texts.map((text) => texts[text]!))) return []
  const last = parts.at(-1)!
  const blocks = parts.map((text) => [texts[text]!, wholeText(text, texts)] as const)
  return [unlabelled(blocks, { annotateAt: { text: last, offset: texts[last]!.length } })]
}

function isToolRole(role: string): boolean {
  return role === 'tool' || role === 'function'
}

/** The elements of a `documents` array, which is the whole text. */
function findDocuments(text: number, texts: readonly string[]): PromptContext[] {
  const json = texts[text]!
  const slots = elementSpans(json, 0).map(({ start, end }) => ({ text, start, end, content: { start, end } }))
  return [unlabelled(slots.map((slot) => [json, slot]))]
}

function toResult(text: number, texts: readonly string[]): PromptContext {
  return unlabelled([[texts[text]!, wholeText(text, texts)]], { isResult: true })
}

function wholeText(text: number, texts: readonly string[]): ContextSlot {
  const end = texts[text]!.length
  const start = findContentStart(texts[text]!, 0, end)
  return { text, start: 0, end, content: { start, end: findContentEnd(texts[text]!, start, end) } }
}

interface MarkedContexts extends FoundContexts {
  /** A list was left alone because a block of it runs from one part into the next. */
  readonly isSpanning: boolean
}

function findMarkedContexts(message: PromptMessage, texts: readonly string[], certain?: CertainFinder): MarkedContexts {
  const whole = message.texts.map((text) => texts[text]!).join(partSeparator)
  const parts: { text: number; start: number }[] = []
  let at = 0
  for (const text of message.texts) {
    parts.push({ text, start: at })
    at += texts[text]!.length + partSeparator.length
  }
  const locate = (offset: number): { text: number; start: number } => parts[findIndexFrom(parts, offset + 1) - 1]!
  const isWhole = isToolRole(message.role)
  const traits = { whole: isWhole, rendered: message.isRendered ?? false }
  const { lists: sure, isUnsure } = findSureLists(whole, traits)
  const guessed = sure.filter((list) => !isLookalike(whole, list, isWhole))
  const toContexts = (lists: readonly ContextList[]): { inParts: PromptContext[]; isSpanning: boolean } => {
    const found = leaveOutAnswers(whole, lists).map((list) => toContext(list, whole, locate))
    // a block that runs from one part into the next cannot be moved
    const inParts = found.filter(({ slots }) => slots.every(({ text, end }) => end <= texts[text]!.length))
    const within = inParts.map((context) => ({ ...context, annotateAt: withinText(context.annotateAt, texts) }))
    return { inParts: within, isSpanning: inParts.length < found.length }
  }
  const { role, isRendered = false } = message
  const known = leaveOutTurns(whole, certain?.({ whole, parts, role, isRendered }) ?? [], isRendered)
  const { inParts: contexts, isSpanning } = toContexts(preferCertain(guessed, known))
  const isAided = contexts.some((context) => context.certain?.by === 'known_chunks')
  const separated = known.filter((list) => list.certain.by === 'separator')
  const unaided = isAided ? toContexts(preferCertain(guessed, separated)).inParts : undefined
  return { contexts, isUnsure, isSpanning, unaided }
}

/** Of a prompt that the client has rendered, what stands in the turn of one speaker, who is not the assistant. */
function leaveOutTurns<List extends ContextList>(
  text: string,
  lists: readonly List[],
  isRendered: boolean,
): readonly List[] {
  if (lists.length === 0 || !isRendered) return lists
  const turns = findTurns(text) ?? []
  return lists.filter(({ blocks, end }) => {
    const turn = turns[findIndexFrom(turns, blocks[0]!.start + 1) - 1]
    return turn !== undefined && end <= turn.end
  })
}

/** A list may end in the space that parts two texts. */
function withinText(at: PromptContext['annotateAt'], texts: readonly string[]): PromptContext['annotateAt'] {
  return at && { text: at.text, offset: Math.min(at.offset, texts[at.text]!.length) }
}

function toContext(
  list: ContextList & Partial<CertainList>,
  whole: string,
  locate: (offset: number) => { text: number; start: number },
): PromptContext {
  const end = locate(list.end)
  const { positional } = list
  const contents = list.blocks.map((block) => toBlockId(contentOf(whole, block, positional)))
  return {
    slots: list.blocks.map((block) => toSlot(block, locate(block.start))),
    blocks: list.blocks.map((block, i) => toBlockId(around(whole, block, positional, contents[i]!))),
    contents,
    positional,
    labelPrefix: list.labelPrefix,
    annotateAt: { text: end.text, offset: list.end - end.start },
    isResult: false,
    ...(list.certain && { certain: list.certain }),
  }
}

/** What a block holds; without a label that belongs to its place where that stands inside, as in JSON. */
function contentOf(text: string, { contentStart, contentEnd, label }: BlockSpan, positional: boolean): string {
  if (!positional || !label || label.start < contentStart || label.end > contentEnd) {
    return text.slice(contentStart, contentEnd)
  }
  return `${text.slice(contentStart, label.start)}\0${text.slice(label.end, contentEnd)}`
}

/**
 * All of a block but a label that belongs to its place, its content by its identity: blocks are the same when the
 * engine would see the same bytes.
 */
function around(text: string, block: BlockSpan, positional: boolean, content: BlockId): string {
  const { start, end, contentStart, contentEnd, label } = block
  const without = (from: number, to: number): string => {
    if (!positional || !label || label.start < from || label.end > to) return text.slice(from, to)
    return `${text.slice(from, label.start)}\0${text.slice(label.end, to)}`
  }
  return `${without(start, contentStart)}\0${content}\0${without(contentEnd, end)}`
}

/** Blocks that bear no labels, each with its text; without markup they are what they hold, with the space around it. */
function unlabelled(
  blocks: readonly (readonly [string, ContextSlot])[],
  { annotateAt, isResult = false }: Partial<Pick<PromptContext, 'annotateAt' | 'isResult'>> = {},
): PromptContext {
  return {
    slots: blocks.map(([, slot]) => slot),
    blocks: blocks.map(([text, { start, end }]) => toBlockId(text.slice(start, end))),
    contents: blocks.map(([text, { content }]) => toBlockId(text.slice(content.start, content.end))),
    positional: false,
    labelPrefix: '',
    annotateAt,
    isResult,
  }
}

function toSlot(block: BlockSpan, part: { text: number; start: number }): ContextSlot {
  const content = { start: block.contentStart - part.start, end: block.contentEnd - part.start }
  const slot = { text: part.text, start: block.start - part.start, end: block.end - part.start, content }
  if (!block.label) return slot
  return { label: { start: block.label.start - part.start, end: block.label.end - part.start }, ...slot }
}
