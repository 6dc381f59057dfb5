import { findLineEnd } from '../scan/find-edges.ts'

const QUALITY =
  "the|your|my|our|users?|user['’]s|current|new|next|final|important|additional|general|special|output|response|answer|answering|citation|example|sample|system|chat|conversation|message|previous|how to|what to"
const NOUN =
  'instructions?|rules?|guidelines?|requirements?|constraints?|tasks?|questions?|quer(?:y|ies)|answers?|responses?|respond|reply|requests?|inputs?|outputs?|formats?|history|conversation|messages?|users?|goals?|objectives?|role|persona|style|tone|reminders?|directives?|prompt|cite|citations?|do'
const FOREIGN =
  'anweisungen|aufgaben?|regeln|hinweise?|ausgabe|consignes|règles|instrucciones|reglas|regras|instruções|regole|istruzioni|правила|инструкции|القواعد|تعليمات|指令|指示|要求|任务|规则|注意|问题|输出|ルール|規則|규칙|지침'
const TITLE = new RegExp(
  `^#{1,6}[ \\t]*(?:\\d{1,2}[.)]?[ \\t]+)?(?:\\*\\*)?(?:(?:${QUALITY})[ -]){0,3}(?:(?:${NOUN})(?!\\p{L})|${FOREIGN})[^\\n]{0,40}$`,
  'iu',
)
// `Requirements:`, alone on its line; `Output:` and `Response:` are parts of examples in documents
const ANNOUNCED =
  'instructions?|rules|guidelines|requirements|constraints|tasks?|reminders?|directives|(?:chat |conversation )?history|conversation|(?:example|sample) (?:answer|output|response|question)s?|(?:output|answer|response) formats?'
const LINE = new RegExp(
  `^(?:\\*\\*)?(?:(?:${QUALITY})[ -]){0,3}(?:${ANNOUNCED}|${FOREIGN})(?: so far)?[^\\n\\p{L}]{0,8}[:：](?:\\*\\*)?$`,
  'iu',
)
const LONGEST_TITLE = 100

/**
 * Returns whether a heading belongs to a prompt, such as `## Instructions`. Headings of documents may have any other
 * title.
 */
export function isPromptHeading(text: string, start: number): boolean {
  const line = text.slice(start, Math.min(findLineEnd(text, start), start + LONGEST_TITLE)).trim()
  return TITLE.test(line)
}

/** Returns whether a line is only a word for instructions and a colon. */
export function isPromptLine(text: string, start: number): boolean {
  return LINE.test(text.slice(start, Math.min(findLineEnd(text, start), start + LONGEST_TITLE)).trim())
}
