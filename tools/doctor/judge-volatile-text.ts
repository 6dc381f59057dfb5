import type { PromptMessage, PromptText } from '#proxy/prompt/body/prompt.ts'
import type { PromptContext } from '#proxy/prompt/body/prompt-context.ts'
import { findVolatileText, type VolatileText } from './find-volatile-text.ts'
import { type Finding, ok, warning } from './finding.ts'

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
