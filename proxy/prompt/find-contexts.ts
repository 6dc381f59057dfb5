import { toBlockId } from '#index/context-block.ts'
import { elementSpans, type Span } from '../json-spans.ts'
import type { PromptMessage } from './body/prompt.ts'
import type { ContextSlot, PromptContext } from './body/prompt-context.ts'
import { findSureLists } from './forms/find-context-lists.ts'
import { findWholeParts } from './judge/are-whole-parts.ts'
import { type ContextList, mostBlocks } from './judge/context-list.ts'
import { findLookalike } from './judge/find-lookalikes.ts'
import { leaveOutAnswers } from './judge/leave-out-answers.ts'
import { areUnsure, type Reason } from './judge/reasons.ts'
import { findContentEnd, findContentStart, findIndexFrom } from './scan/find-edges.ts'
import { findTurns } from './scan/find-turns.ts'
import { toContext } from './to-context.ts'

/** Roles whose texts may hold context blocks; what an assistant wrote is never touched. */
const rolesWithContext = new Set(['system', 'developer', 'user', 'tool', 'function'])

/** How text parts are set apart when a message is searched as one text. */
const partSeparator = '\n\n'

/** Blocks that patterns of the user found, by text. */
export type PatternLists = ReadonlyMap<number, readonly ContextList[]>

/** Something in a text of a prompt that looks like a list and is left alone. */
export interface PlacedRefusal extends Span {
  readonly refused: Reason
  readonly text: number
}

/** The contexts of a message. */
export interface FoundContexts {
  readonly contexts: PromptContext[]
  /** what is left alone besides */
  readonly refusals: readonly PlacedRefusal[]
  /** there are none, but its text looks as if it held some: it is left alone */
  readonly isUnsure: boolean
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
): FoundContexts {
  if (message.role === 'documents') return toFound(findDocuments(message.texts[0]!, texts))
  if (!rolesWithContext.has(message.role) || message.texts.length === 0) return toFound([])
  // lists whose borders are certain (known chunks, a separator of ours) go here, in front of marks: they need no evidence,
  // and what they cover is searched no further
  const marked = findMarkedContexts(message, texts)
  if (marked.contexts.length > 0) return toFound(marked.contexts, marked.refusals)
  return toFound(findUnmarked(message, texts, marked, patternLists), marked.refusals)
}

function toFound(contexts: PromptContext[], refusals: readonly PlacedRefusal[] = []): FoundContexts {
  return { contexts, refusals, isUnsure: contexts.length === 0 && areUnsure(refusals) }
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
    const lists = message.isRendered ? leaveOutTurns(texts[text]!, found) : leaveOutAnswers(texts[text]!, found)
    return lists.map((list) => toContext(list, texts[text]!, () => ({ text, start: 0 })))
  })
  if (patterned.length > 0) return patterned
  if (isToolRole(message.role)) return message.texts.map((text) => toResult(text, texts))
  if (message.role !== 'user' || !message.isTextOnly || message.texts.length < 3 || message.texts.length > mostBlocks)
    return []
  const range = isSpanning ? undefined : findWholeParts(message.texts.map((text) => texts[text]!))
  if (range === undefined) return []
  const parts = message.texts.slice(range.from, range.to)
  const last = parts.at(-1)!
  const blocks = parts.map((text) => [texts[text]!, wholeText(text, texts)] as const)
  return [unlabelled(blocks, { annotateAt: { text: last, offset: texts[last]!.length } })]
}

/** Whether what is asked stands in another message. */
function isAskedElsewhere({ role, isFollowed }: PromptMessage): boolean {
  return role === 'system' || role === 'developer' || (isFollowed ?? false)
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

interface MarkedContexts {
  readonly contexts: PromptContext[]
  readonly refusals: readonly PlacedRefusal[]
  /** A list was left alone because a block of it runs from one part into the next. */
  readonly isSpanning: boolean
}

function findMarkedContexts(message: PromptMessage, texts: readonly string[]): MarkedContexts {
  const whole = message.texts.map((text) => texts[text]!).join(partSeparator)
  const parts: { text: number; start: number }[] = []
  let at = 0
  for (const text of message.texts) {
    parts.push({ text, start: at })
    at += texts[text]!.length + partSeparator.length
  }
  const locate = (offset: number): { text: number; start: number } => parts[findIndexFrom(parts, offset + 1) - 1]!
  const refusals: PlacedRefusal[] = []
  const refuse = (refused: Reason, { start, end }: Span): void => {
    const part = locate(start)
    const length = texts[part.text]!.length
    refusals.push({
      refused,
      text: part.text,
      start: start - part.start,
      end: Math.min(end - part.start, length),
    })
  }
  const traits = {
    whole: isToolRole(message.role),
    rendered: message.isRendered ?? false,
    asked: isAskedElsewhere(message),
    tool: message.tool,
  }
  const { lists: sure, refusals: seen } = findSureLists(whole, traits)
  for (const { refused, at } of seen) refuse(refused, at)
  const lists = sure.filter((list) => {
    const alike = findLookalike(whole, list, traits.whole)
    if (alike !== undefined) refuse(alike, { start: list.blocks[0]!.start, end: list.end })
    return alike === undefined
  })
  const found = leaveOutAnswers(whole, lists).map((list) => toContext(list, whole, locate))
  // a block that runs from one part into the next cannot be moved
  const isInPart = ({ text, end }: ContextSlot): boolean => end <= texts[text]!.length
  const inParts = found.filter(({ slots }) => slots.every(isInPart))
  for (const { slots } of found) {
    const torn = slots.find((slot) => !isInPart(slot))
    if (torn)
      refusals.push({ refused: 'spans_parts', text: torn.text, start: torn.start, end: texts[torn.text]!.length })
  }
  const contexts = inParts.map((context) => ({ ...context, annotateAt: withinText(context.annotateAt, texts) }))
  return { contexts, refusals, isSpanning: inParts.length < found.length }
}

/** What the user's patterns found in the turn of one speaker, who is not the assistant. */
function leaveOutTurns(text: string, lists: readonly ContextList[]): readonly ContextList[] {
  if (lists.length === 0) return lists
  const turns = findTurns(text) ?? []
  return leaveOutAnswers(text, lists).filter(({ blocks, end }) => {
    const turn = turns[findIndexFrom(turns, blocks[0]!.start + 1) - 1]
    return turn !== undefined && end <= turn.end
  })
}

/** A list may end in the space that parts two texts. */
function withinText(at: PromptContext['annotateAt'], texts: readonly string[]): PromptContext['annotateAt'] {
  return at && { text: at.text, offset: Math.min(at.offset, texts[at.text]!.length) }
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
