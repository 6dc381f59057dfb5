import type { Span } from '#proxy/common/json/json-spans.ts'
import type { PromptMessage, PromptText } from '#proxy/prompt/body/prompt.ts'
import type { PromptContext } from '#proxy/prompt/body/prompt-context.ts'
import { type Finding, ok, warning } from './finding.ts'
import { type VolatileKind, volatilePatterns } from './volatile-patterns.ts'

const check = 'volatile_text'
/** At most this many are listed: the first one already ends the shared prefix. */
const mostListed = 5

/**
 * Lists text before the first blocks that differs from request to request: in system messages, and in the message with
 * these blocks. Text in other turns was sent before and does not change.
 */
export function judgeVolatileText(
  messages: readonly PromptMessage[],
  texts: readonly PromptText[],
  contexts: readonly (readonly PromptContext[])[],
): Finding[] {
  const found: Finding[] = []
  for (const [place, message] of messages.entries()) {
    const slots = contexts[place]!.flatMap(({ slots }) => slots)
    const isSystem = message.role === 'system' || message.role === 'developer'
    if (isSystem || slots.length > 0) found.push(...findInMessage(message, texts, slots))
    if (place === messages.length - 1) found.push(...findQuestionBefore(texts, slots))
    if (slots.length > 0 && isBehindQuestion(messages.slice(0, place), message)) {
      const { path } = texts[message.texts[0]!]!
      found.push(warning(check, `${path.join('.')} ${behindQuestion.found}`, behindQuestion.fix))
    }
    if (slots.length > 0) break
  }
  if (found.length === 0) return [ok(check, 'none found in front of the blocks')]
  const more = found.length - mostListed
  if (more <= 0) return found
  return [...found.slice(0, mostListed), warning(check, `${more} more`)]
}

const behindQuestion = {
  found: 'is the result of a tool, behind a question: this conversation reuses it, others only where they ask the same',
  fix: 'nothing to mend in an agent; what it gains all the same: docs/apps.md, Who gains nothing',
}

/** Whether a message is the result of a tool that was called for what a user asked. */
function isBehindQuestion(before: readonly PromptMessage[], { role }: PromptMessage): boolean {
  return (role === 'tool' || role === 'function') && before.some((message) => message.role === 'user')
}

function findInMessage(message: PromptMessage, texts: readonly PromptText[], slots: PromptContext['slots']): Finding[] {
  const found: Finding[] = []
  for (const at of message.texts) {
    const { text, path, isRaw } = texts[at]!
    const first = slots.find((slot) => slot.text === at)
    if (!isRaw) {
      const volatile = findVolatileText(text, first?.start)
      found.push(...volatile.map((one) => toFinding(one, text, path.join('.'))))
    }
    if (first) break
  }
  return found
}

/** A line that asks. */
const QUESTION = /^(?:(?:user )?(?:question|query)\s*[:：].*\S|.*[?？])$/i

const questionIn = (text: string): string | undefined =>
  text
    .split('\n')
    .map((line) => line.trim())
    .find((line) => QUESTION.test(line))

/** Finds a question in front of the documents, unless one is behind them. */
function findQuestionBefore(texts: readonly PromptText[], slots: PromptContext['slots']): Finding[] {
  const [first, last] = [slots[0], slots.at(-1)]
  if (!first || !last) return []
  const asked = questionIn(texts[first.text]!.text.slice(0, first.start))
  if (asked === undefined || questionIn(texts[last.text]!.text.slice(last.end)) !== undefined) return []
  const found = `${texts[first.text]!.path.join('.')} asks '${asked.slice(0, 80)}' in front of the documents. Nothing after it is reused`
  return [warning(check, found, 'put the question behind the documents')]
}

function toFinding({ start, end, kind }: VolatileText, text: string, path: string): Finding {
  const { what, fix } = kinds[kind]
  const excerpt = text.slice(start, Math.min(end, start + 80)).replace(/\s+/g, ' ')
  const cut = end - start > 80 ? '…' : ''
  return warning(check, `${path} contains ${what}: '${excerpt}${cut}'. Nothing after it is reused`, fix)
}

const ifItDiffers = 'if it differs from request to request, put it after the blocks, next to the question'
/** What each kind is and how often it changes, and what to do about it. */
const kinds: Readonly<Record<VolatileText['kind'], { readonly what: string; readonly fix: string }>> = {
  attribution: {
    what: 'a header that a client inserts for itself: it changes with every request',
    fix: 'switch the header off in the client (Claude Code: CLAUDE_CODE_ATTRIBUTION_HEADER=0)',
  },
  id: {
    what: 'the id of a request or conversation: it changes with every one',
    fix: "send it as a header or in 'metadata' instead, or after the blocks",
  },
  time: {
    what: 'the time of day: it changes every minute or second',
    fix: 'put it after the blocks, next to the question, or send only the date',
  },
  date: { what: 'the date: it changes every day', fix: 'put it after the blocks, next to the question' },
  timestamp: {
    what: 'a timestamp: it changes with every request if it is the time of the request',
    fix: ifItDiffers,
  },
  uuid: { what: 'a UUID: it changes with every request if it names the request', fix: ifItDiffers },
}

/** Text that differs between otherwise equal requests: nothing after it is found in an engine's cache. */
interface VolatileText extends Span {
  readonly kind: VolatileKind
}

/** A text with more matches than this is data, not headers. */
const mostFound = 100

/** Shorter lines are not searched: even `now 14:03` is longer. */
const shortest = 7

const FENCE = /^[ \t]*(?:```|~~~)/

// words that mark what follows as an example, not this request's own value
const EXAMPLE =
  /\be\.g\.|\bz\.\s?B\.|\b(?:for (?:example|instance)|examples?|formats?|formatted|such as|like|beispiel)\b/i

/**
 * Finds the volatile text before `end`, in order and not overlapping, in linear time. Omits what is quoted, in code or
 * given as an example.
 */
export function findVolatileText(text: string, end: number = text.length): VolatileText[] {
  const found: VolatileText[] = []
  let isCode = false
  for (let start = 0; start < end && found.length < mostFound; ) {
    const feed = text.indexOf('\n', start)
    const lineEnd = feed < 0 ? end : Math.min(feed, end)
    const content = text.slice(start, lineEnd)
    const isFence = FENCE.test(content)
    if (isFence) isCode = !isCode
    if (!isFence && !isCode && content.length >= shortest) found.push(...findInLine(content, start))
    start = lineEnd + 1
  }
  return found.slice(0, mostFound)
}

function findInLine(content: string, lineStart: number): VolatileText[] {
  const found: VolatileText[] = []
  // most lines have no digit and need no search
  if (!/\d/.test(content)) return found
  for (const { regExp, kindOf } of volatilePatterns) {
    for (const match of content.matchAll(regExp)) {
      const kind = kindOf(match)
      if (kind === undefined || isExample(content, match.index)) continue
      const start = lineStart + match.index
      const end = start + match[0].length
      // what a surer pattern has found stays
      if (found.some((one) => one.start < end && start < one.end)) continue
      found.push({ start, end, kind })
      if (found.length >= mostFound) break
    }
  }
  return found.toSorted((a, b) => a.start - b.start)
}

function isExample(line: string, at: number): boolean {
  return EXAMPLE.test(line.slice(Math.max(0, at - 200), at))
}
