import { toBlockId } from '#index/context-block.ts'
import { elementSpans, type Span } from '../common/json/json-spans.ts'
import type { PromptMessage } from './body/prompt.ts'
import type { ContextSlot, PromptContext } from './body/prompt-context.ts'
import { outsideBlocks } from './borders/find-numbered-closings.ts'
import { type CertainFinder, mayChange, preferCertain } from './certain-list.ts'
import { type ContextList, mostBlocks } from './context-list.ts'
import { finish } from './finish.ts'
import { searchLists } from './forms/find-context-lists.ts'
import { findWholeParts } from './judge/are-whole-parts.ts'
import { leaveOutAnswers } from './judge/leave-out-answers.ts'
import { areUnsure, type Reason, type Refusal } from './judge/reasons.ts'
import { judgeTask } from './places/judge-words.ts'
import { findContentEnd, findContentStart, findIndexFrom } from './scan/find-edges.ts'
import { findTurns } from './scan/find-turns.ts'
import { toToolKind } from './scan/words/tool-kind.ts'
import { toContext } from './to-context.ts'

/** Roles whose texts may contain context blocks. Text written by the assistant is never touched. */
const rolesWithContext = new Set(['system', 'developer', 'user', 'tool', 'function'])

/** Separator between text parts when a message is searched as one text. */
const partSeparator = '\n\n'

// a tool's result that an agent hands over in a message of the user, after the question
const OBSERVATION = /^\s{0,8}(?:observation|tool (?:call )?(?:result|response|output)s?)[:：]\s/i

/** Templates whose lists are cut by their literals, without reading the rest of a prompt. */
export interface KnownTemplates {
  /** Returns the one list of a message, given as one text; undefined if no known template wrote it. */
  cut(message: PromptMessage, whole: string): ContextList | undefined
  /** Whether a new message need not be read, since nothing was ever found in those that begin alike. */
  isSkipped?(message: PromptMessage, whole: string): boolean
  /** Learns what was found in a message that was not cut. */
  learn(message: PromptMessage, whole: string, lists: readonly ContextList[]): void
}

/** Something in a prompt's text that looks like a list but is left alone. */
export interface PlacedRefusal extends Span {
  readonly refused: Reason
  readonly text: number
}

export interface FoundContexts {
  readonly contexts: PromptContext[]
  /** list-like stretches that were left alone */
  readonly refusals: readonly PlacedRefusal[]
  /** no contexts were found, but the text looks as if it had some with unclear borders */
  readonly isUnsure: boolean
  /** the contexts that would be found without known chunks and templates; set only if they made a difference */
  readonly unaided?: readonly PromptContext[] | undefined
}

/**
 * Finds the contexts of one message (docs/contract.md, What happens to a prompt): `documents` given as such, else marked lists, also across text
 * parts. If there are none, returns the results of tools, or the text parts of a user message before the last one, which
 * is the question.
 */
export function searchMessage(
  message: PromptMessage,
  texts: readonly string[],
  certain?: CertainFinder,
): FoundContexts {
  return finish(searchInSteps(message, texts, certain))
}

/** Like `searchMessage`, but yields every few thousand lines. */
export function* searchInSteps(
  message: PromptMessage,
  texts: readonly string[],
  certain?: CertainFinder,
  known?: KnownTemplates,
): Generator<void, FoundContexts> {
  if (message.role === 'documents') return toFound(findDocuments(message.texts[0]!, texts))
  if (!rolesWithContext.has(message.role) || message.texts.length === 0) return toFound([])
  const marked = yield* findMarkedContexts(message, texts, certain, known)
  const orUnmarked = (contexts: PromptContext[]): PromptContext[] =>
    contexts.length > 0 ? contexts : findUnmarked(message, texts, marked)
  const unaided = marked.unaided && orUnmarked(marked.unaided)
  return { ...toFound(orUnmarked(marked.contexts), marked.refusals), unaided }
}

function toFound(contexts: PromptContext[], refusals: readonly PlacedRefusal[] = []): FoundContexts {
  return { contexts, refusals, isUnsure: contexts.length === 0 && areUnsure(refusals) }
}

function findUnmarked(
  message: PromptMessage,
  texts: readonly string[],
  { isSpanning }: MarkedContexts,
): PromptContext[] {
  if (isToolRole(message.role)) return message.texts.map((text) => toResult(text, texts, message.tool))
  if (message.role !== 'user' || !message.isTextOnly || message.texts.length < 3 || message.texts.length > mostBlocks)
    return []
  const range = isSpanning ? undefined : findWholeParts(message.texts.map((text) => texts[text]!))
  if (range === undefined) return []
  const parts = message.texts.slice(range.from, range.to)
  const last = parts.at(-1)!
  const blocks = parts.map((text) => [texts[text]!, wholeText(text, texts)] as const)
  return [unlabelled(blocks, { annotateAt: { text: last, offset: texts[last]!.length } })]
}

/** Returns whether the question may be in another message. */
function isAskedElsewhere({ role, isFollowed }: PromptMessage): boolean {
  return role === 'system' || role === 'developer' || (isFollowed ?? false)
}

function isToolRole(role: string): boolean {
  return role === 'tool' || role === 'function'
}

/** Returns the elements of a `documents` array, which is the whole text. */
function findDocuments(text: number, texts: readonly string[]): PromptContext[] {
  const json = texts[text]!
  const slots = elementSpans(json, 0).map(({ start, end }) => ({ text, start, end, content: { start, end } }))
  return [unlabelled(slots.map((slot) => [json, slot]))]
}

function toResult(text: number, texts: readonly string[], tool: string | undefined): PromptContext {
  const kind = toToolKind(tool)
  const result = unlabelled([[texts[text]!, wholeText(text, texts)]], { isResult: true })
  return kind === 'read' || kind === 'other' ? { ...result, isCounted: true } : result
}

function wholeText(text: number, texts: readonly string[]): ContextSlot {
  const end = texts[text]!.length
  const start = findContentStart(texts[text]!, 0, end)
  return { text, start: 0, end, content: { start, end: findContentEnd(texts[text]!, start, end) } }
}

interface MarkedContexts {
  readonly contexts: PromptContext[]
  readonly refusals: readonly PlacedRefusal[]
  /** A list was left alone because a block crosses the end of a part, or a picture is between its blocks. */
  readonly isSpanning: boolean
  /** the contexts that would be found without known chunks and templates; set only if they made a difference */
  readonly unaided: PromptContext[] | undefined
}

interface PlacedLists {
  readonly contexts: PromptContext[]
  /**
   * first block of each list that cannot be moved: a block crosses the end of a part, or a picture is between its
   * blocks
   */
  readonly torn: readonly ContextSlot[]
}

function* findMarkedContexts(
  message: PromptMessage,
  texts: readonly string[],
  certain?: CertainFinder,
  templates?: KnownTemplates,
): Generator<void, MarkedContexts> {
  const whole = message.texts.map((text) => texts[text]!).join(partSeparator)
  const parts: { text: number; start: number; end: number }[] = []
  let at = 0
  for (const text of message.texts) {
    const end = at + texts[text]!.length
    parts.push({ text, start: at, end })
    at = end + partSeparator.length
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
    asked: isAskedElsewhere(message) || OBSERVATION.test(whole),
    tool: message.tool,
    sorted: message.isSorted ?? false,
  }
  const isOpen = (list: ContextList, around: string): boolean => {
    const task = judgeTask(around, list.blocks)
    if (task !== undefined) refuse(task, { start: list.blocks[0]!.start, end: list.end })
    return task === undefined
  }
  const isOne = message.texts.length === 1
  const cut = isOne ? templates?.cut(message, whole) : undefined
  const isSkipped = isOne && !cut && templates?.isSkipped?.(message, whole)
  const marked = cut ? [cut] : isSkipped ? [] : yield* readByRules(whole, traits, refuse)
  // the words around a known template's list differ from request to request
  const around =
    marked.length === 0
      ? ''
      : outsideBlocks(
          whole,
          marked.flatMap(({ blocks }) => blocks),
        ).join('\n\n')
  const guessed = marked.filter((list) => isOpen(list, around))
  if (isOne && !cut && !isSkipped) templates?.learn(message, whole, guessed)
  const place = (lists: readonly ContextList[]): PlacedLists => {
    const found = leaveOutAnswers(whole, lists).map((list) => toContext(list, whole, locate))
    // a picture between two texts may belong to one of them, and a text that moves alone would lose it
    const tornAt = ({ slots }: PromptContext): ContextSlot | undefined =>
      slots.find(({ text, end }) => end > texts[text]!.length || (!message.isTextOnly && text !== slots[0]!.text))
    const inParts = found.filter((context) => tornAt(context) === undefined)
    return {
      contexts: inParts.map((context) => ({ ...context, annotateAt: withinText(context.annotateAt, texts) })),
      torn: found.flatMap((context) => tornAt(context) ?? []),
    }
  }
  // certain borders need no evidence: known chunks, templates of the configuration
  const { role, tool, isRendered = false } = message
  const known = leaveOutTurns(whole, certain?.({ whole, parts, role, tool, isRendered, marked }) ?? [], isRendered)
  const { contexts, torn } = place(preferCertain(guessed, known))
  for (const { text, start } of torn) refusals.push({ refused: 'spans_parts', text, start, end: texts[text]!.length })
  const isAided = contexts.some(mayChange)
  const unaided = isAided ? place(guessed).contexts : undefined
  return { contexts, refusals, isSpanning: torn.length > 0, unaided }
}

/** Finds lists by their marks. Not a closure: V8 keeps what belongs to a generator function for long. */
function* readByRules(
  whole: string,
  traits: Parameters<typeof searchLists>[1],
  refuse: (refused: Reason, at: Span) => void,
): Generator<void, readonly ContextList[]> {
  const { lists, refusals } = yield* searchLists(whole, traits)
  const reason = reasonOutside(whole, refusals)
  for (const { refused, at } of refusals) refuse((refused === 'no_evidence' && reason) || refused, at)
  return lists
}

/** Returns why the task, judged without the text that lacks evidence, would leave that text alone anyway. */
function reasonOutside(text: string, seen: readonly Refusal[]): Reason | undefined {
  const unproved = seen.filter(({ refused }) => refused === 'no_evidence').map(({ at }) => at)
  if (unproved.length === 0) return undefined
  const starts = [...unproved.map(({ start }) => start), text.length]
  return judgeTask(starts.map((start, i) => text.slice(unproved[i - 1]?.end ?? 0, start)).join('\n\n'), unproved)
}

/** For a prompt rendered by the client, keeps only lists within a single turn of a speaker other than the assistant. */
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

/** Clamps an offset to its text, because a list may end in the separator between two texts. */
function withinText(at: PromptContext['annotateAt'], texts: readonly string[]): PromptContext['annotateAt'] {
  return at && { text: at.text, offset: Math.min(at.offset, texts[at.text]!.length) }
}

/**
 * Builds a context of unlabelled blocks, each given with its text. Without markup a block is its content and the
 * whitespace around it.
 */
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
