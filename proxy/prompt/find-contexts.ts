import type { BlockId } from '#index/context-block.ts'
import { elementSpans, type Span } from '../common/json/json-spans.ts'
import type { PromptMessage } from './body/prompt.ts'
import { type ContextSlot, type PromptContext, toContext, unlabelled } from './body/prompt-context.ts'
import { findOpenWords, type OpenWords } from './borders/find-open-words.ts'
import { outsideBlocks } from './borders/list-closings.ts'
import { type CertainFinder, type CertainList, preferCertain, type TextPart } from './certain-list.ts'
import { type ContextList, mostBlocks, startOf } from './context-list.ts'
import { finish } from './finish.ts'
import { searchLists } from './forms/find-context-lists.ts'
import { findWholeParts } from './judge/are-whole-parts.ts'
import { leaveOutAnswers } from './judge/leave-out-answers.ts'
import { areUnsure, type Reason, type Refusal } from './judge/reasons.ts'
import { judgeTask } from './places/judge-words.ts'
import { findContentEnd, findContentStart, findIndexFrom } from './scan/find-edges.ts'
import { findTurns } from './scan/find-turns.ts'
import { toToolKind } from './scan/words/tool-kind.ts'

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
  /** Whether words behind a list are the prompt's: they were seen behind different last blocks. */
  isConstant?(words: string): boolean
  /** Learns which block stood in front of words that may be its own. */
  noteWords?(words: string, last: BlockId): void
  /**
   * Learns what was found in a message that was not cut. `isUnsure`: what looks like a list may be another one. `isEmpty`:
   * none of the lists may be moved.
   */
  learn(
    message: PromptMessage,
    whole: string,
    lists: readonly ContextList[],
    judged: { readonly isUnsure: boolean; readonly isEmpty: boolean },
  ): void
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

/** Like `searchMessage`, but yields every few thousand lines, and need not find anew the lists of known templates. */
export function* searchInSteps(
  message: PromptMessage,
  texts: readonly string[],
  certain?: CertainFinder,
  templates?: KnownTemplates,
): Generator<void, FoundContexts> {
  if (message.role === 'documents') return toFound(findDocuments(message.texts[0]!, texts))
  if (!rolesWithContext.has(message.role) || message.texts.length === 0) return toFound([])
  return yield* new MessageSearch(message, texts, templates).find(certain)
}

function toFound(contexts: PromptContext[], refusals: readonly PlacedRefusal[] = []): FoundContexts {
  return { contexts, refusals, isUnsure: contexts.length === 0 && areUnsure(refusals) }
}

/** Returns the elements of a `documents` array, which is the whole text. */
function findDocuments(text: number, texts: readonly string[]): PromptContext[] {
  const json = texts[text]!
  const slots = elementSpans(json, 0).map(({ start, end }) => ({ text, start, end, content: { start, end } }))
  return [unlabelled(slots, texts)]
}

/** Searches the texts of one message as one text. */
class MessageSearch {
  readonly #message: PromptMessage
  readonly #texts: readonly string[]
  readonly #whole: string
  readonly #parts: readonly TextPart[]
  readonly #templates: KnownTemplates | undefined
  readonly #refusals: PlacedRefusal[] = []

  constructor(message: PromptMessage, texts: readonly string[], templates: KnownTemplates | undefined) {
    this.#message = message
    this.#texts = texts
    this.#templates = templates
    this.#whole = message.texts.map((text) => texts[text]!).join(partSeparator)
    let at = 0
    this.#parts = message.texts.map((text) => {
      const start = at
      at += texts[text]!.length + partSeparator.length
      return { text, start, end: at - partSeparator.length }
    })
  }

  *find(certain: CertainFinder | undefined): Generator<void, FoundContexts> {
    const { role, tool, isRendered = false, isTextOnly } = this.#message
    const [whole, parts] = [this.#whole, this.#parts]
    const { marked, guessed } = yield* this.#guess()
    // certain borders need no evidence: known chunks, templates of the configuration
    const known = leaveOutTurns(whole, certain?.({ whole, parts, role, tool, isRendered, marked }) ?? [], isRendered)
    const { contexts, torn } = this.#place(preferCertain(guessed, known))
    for (const { text, start } of torn)
      this.#refusals.push({ refused: 'spans_parts', text, start, end: this.#texts[text]!.length })
    const areParts = role === 'user' && isTextOnly && torn.length === 0
    const orUnmarked = (found: PromptContext[]): PromptContext[] =>
      found.length > 0 ? found : isToolRole(role) ? this.#toResults() : areParts ? this.#findParts() : []
    const unaided = contexts.some((own) => own.certain) ? orUnmarked(this.#place(guessed).contexts) : undefined
    return { ...toFound(orUnmarked(contexts), this.#refusals), unaided }
  }

  /** Finds lists by their marks, or by the literals of a known template, and those of them that the task lets be moved. */
  *#guess(): Generator<void, Record<'marked' | 'guessed', readonly ContextList[]>> {
    const [message, whole, templates] = [this.#message, this.#whole, this.#templates]
    const isOne = message.texts.length === 1
    const cut = isOne ? templates?.cut(message, whole) : undefined
    const isSkipped = isOne && !cut && templates?.isSkipped?.(message, whole)
    const marked = cut ? [cut] : isSkipped ? [] : yield* this.#readByRules()
    // the words around a known template's list differ from request to request
    const blocks = marked.flatMap((list) => list.blocks)
    const around = blocks.length === 0 ? '' : outsideBlocks(whole, blocks).join('\n\n')
    const guessed = marked.filter((list) => {
      const task = judgeTask(around, list.blocks)
      if (task !== undefined) this.#refuse(task, { start: startOf(list), end: list.end })
      return task === undefined
    })
    if (isOne && !cut && !isSkipped) {
      const judged = { isUnsure: areUnsure(this.#refusals), isEmpty: guessed.length === 0 }
      templates?.learn(message, whole, marked, judged)
    }
    return { marked, guessed }
  }

  *#readByRules(): Generator<void, readonly ContextList[]> {
    const message = this.#message
    const { lists, refusals } = yield* searchLists(this.#whole, {
      whole: isToolRole(message.role),
      rendered: message.isRendered ?? false,
      asked: isAskedElsewhere(message) || OBSERVATION.test(this.#whole),
      tool: message.tool,
      sorted: message.isSorted ?? false,
    })
    const reason = reasonOutside(this.#whole, refusals)
    for (const { refused, at } of refusals) this.#refuse((refused === 'no_evidence' && reason) || refused, at)
    return lists
  }

  #refuse(refused: Reason, { start, end }: Span): void {
    const { text, start: from } = this.#locate(start)
    this.#refusals.push({ refused, text, start: start - from, end: Math.min(end - from, this.#texts[text]!.length) })
  }

  #locate(offset: number): TextPart {
    return this.#parts[findIndexFrom(this.#parts, offset + 1) - 1]!
  }

  /** Converts lists to contexts. `torn`: a block of each that cannot be moved. */
  #place(lists: readonly ContextList[]): Record<'contexts', PromptContext[]> & Record<'torn', ContextSlot[]> {
    const [contexts, torn]: [PromptContext[], ContextSlot[]] = [[], []]
    const kept = leaveOutAnswers(this.#whole, lists)
    for (const [i, list] of kept.entries()) {
      const context = this.#toContext(list, kept[i + 1])
      const slot = this.#findTorn(context)
      if (slot) torn.push(slot)
      else contexts.push(context)
    }
    return { contexts, torn }
  }

  #toContext(list: ContextList & Partial<CertainList>, next: ContextList | undefined): PromptContext {
    const context = toContext(list, this.#whole, (offset) => this.#locate(offset))
    const open = list.certain ? undefined : this.#findOpenWords(list, next)
    if (open === undefined) return context
    // behind words that may be the last block's, whatever is known of them, so that turns are sent again as they were;
    // a prompt that the client renders grows behind them
    const isBehind = open.end !== undefined && !this.#message.isRendered
    const { text, start } = this.#locate(list.end)
    const annotated = isBehind ? { ...context, annotateAt: { text, offset: open.end - start } } : context
    if (this.#templates?.isConstant?.(open.words)) return annotated
    this.#templates?.noteWords?.(open.words, context.contents.at(-1)!)
    return { ...annotated, keepsLast: true }
  }

  /** Returns the words behind a list that may be its last block's. */
  #findOpenWords(list: ContextList, next: ContextList | undefined): OpenWords | undefined {
    const { end } = this.#locate(list.end)
    const isAsked = isAskedElsewhere(this.#message) || end < this.#whole.length
    return findOpenWords(this.#whole, list, Math.min(end, next ? startOf(next) : end), isAsked)
  }

  // a block crosses the end of a part; or a picture is between two texts, and may belong to one that would move alone
  #findTorn({ slots }: PromptContext): ContextSlot | undefined {
    const { isTextOnly } = this.#message
    return slots.find(({ text, end }) => end > this.#texts[text]!.length || (!isTextOnly && text !== slots[0]!.text))
  }

  #toResults(): PromptContext[] {
    const kind = toToolKind(this.#message.tool)
    const isCounted = kind === 'read' || kind === 'other'
    return this.#message.texts.map((text) => {
      const result = unlabelled([this.#wholeText(text)], this.#texts, { isResult: true })
      return isCounted ? { ...result, isCounted } : result
    })
  }

  /** Returns the text parts that are whole documents. */
  #findParts(): PromptContext[] {
    const { texts } = this.#message
    if (texts.length < 3 || texts.length > mostBlocks) return []
    const range = findWholeParts(texts.map((text) => this.#texts[text]!))
    if (range === undefined) return []
    const slots = texts.slice(range.from, range.to).map((text) => this.#wholeText(text))
    const { text, end: offset } = slots.at(-1)!
    return [unlabelled(slots, this.#texts, { annotateAt: { text, offset } })]
  }

  #wholeText(text: number): ContextSlot {
    const own = this.#texts[text]!
    const start = findContentStart(own, 0, own.length)
    return { text, start: 0, end: own.length, content: { start, end: findContentEnd(own, start, own.length) } }
  }
}

/** Returns whether the question may be in another message. */
function isAskedElsewhere({ role, isFollowed }: PromptMessage): boolean {
  return role === 'system' || role === 'developer' || (isFollowed ?? false)
}

function isToolRole(role: string): boolean {
  return role === 'tool' || role === 'function'
}

/** Returns why the task, judged without the text that lacks evidence, would leave that text alone anyway. */
function reasonOutside(text: string, seen: readonly Refusal[]): Reason | undefined {
  const unproved = seen.filter(({ refused }) => refused === 'no_evidence').map(({ at }) => at)
  return unproved.length > 0 ? judgeTask(outsideBlocks(text, unproved).join('\n\n'), unproved) : undefined
}

/** For a prompt rendered by the client, keeps only lists within a single turn of a speaker other than the assistant. */
function leaveOutTurns(text: string, lists: readonly CertainList[], isRendered: boolean): readonly CertainList[] {
  if (lists.length === 0 || !isRendered) return lists
  const turns = findTurns(text) ?? []
  return lists.filter(({ blocks, end }) => {
    const turn = turns[findIndexFrom(turns, blocks[0]!.start + 1) - 1]
    return turn !== undefined && end <= turn.end
  })
}
