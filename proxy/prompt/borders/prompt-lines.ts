import { type Cue, readCue } from '../scan/find-cue-line.ts'
import { findContentEnd, findContentStart, findIndexFrom, findLineEnd, isRule } from '../scan/find-edges.ts'
import type { Region } from '../scan/find-elements.ts'
import type { LineNote, LineNotes } from '../scan/find-line-notes.ts'
import type { Marks } from '../scan/find-marks.ts'

/*
 * What lines of a prompt look like behind its last block: headings, instructions, questions and remarks, and cues that
 * lead from the blocks to the question or only seem to.
 */

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

const ASKING =
  /^(?:please|now|then|also|always|never|only|just|kindly|do not|don['’]t|if|when|remember|note that|important|make sure|be sure|ensure|you|your|use|using|follow|generate|based|given|from|with|cite|quote|write|explain|summari[sz]e|describe|compare|list|tell|give|provide|show|find|translate|extract|identify|discuss|think|consider|read|analy[sz]e|respond|reply|answer|rely|refer|base|keep|include|mention|limit|format|return)\b/i
const OF_THE_PROMPT =
  /\b(?:sources?|contexts?|documents?|passages?|excerpts?|the (?:above|question|results?|information|chunks?|snippets?)|provided|answers?|cite|cited|citations?|respond|responses?|reply)\b/i
// requests in other languages: words for answering, writing and citing, endings of requests, and what they speak of
const ASKING_ELSEWHERE =
  /(?<!\p{L})(?:beantwort|antwort|nutze|verwende|zitier|nenne|schreib|réponds|utilise|cite|rédige|indique|respond|contest|usa|usar|utiliza|cita|redact|resum|indic|explic|rispondi|riporta|ответ|отвеч|использу|цитиру|укаж)\p{L}*|أجب|استخدم|^[请請]|回答|(?:ください|下さい|なさい|こと)[。.]?$|(?:세요|십시오|시오|할 것)[.。]?$/iu
const OF_THE_PROMPT_ELSEWHERE =
  /antwort|frage|quelle|kontext|dokument|réponse|question|source|contexte|document|respuesta|pregunta|fuente|contexto|información|informaç|anterior|resposta|pergunta|fonte|risposta|domanda|contesto|ответ|вопрос|источник|контекст|документ|المستند|المصادر|السياق|答え|答案|問題|问题|出力|输出|質問|文脈|コンテキスト|上下文|文書|文档|資料|资料|信息|出典|引用|답변|질문|출처|문서|출력/iu
// short requests to answer in some way, and remarks about the user, the time and the answer
const REMARK =
  /^\(?(?:please |kindly |now |then |bitte |por favor,? |пожалуйста,? )?(?:(?:antworte|réponds|répondez|responde|responda|contesta|rispondi|ответь|отвечай|أجب)(?!\p{L})[^\n]{0,60}$|(?:today is|the (?:current )?(?:date|time) is|current (?:date|time)\b|the (?:user|customer|client|student|patient|reader|caller)(?:['’]s name)? (?:is|has|was|wants|prefers|speaks|lives|works)\b|(?:tone|language|length|role|style|format|audience|persona|voice|previous answer)[ \t]?:|(?:speak|talk|act|write|sound) (?:like|as)\b|(?:many )?thanks\b|thank you\b|(?:best|kind) regards|your turn\b|now the (?:task|question)|that(?: is|['’]s) all\b|(?:the )?context ends|end of (?:the )?(?:context|documents|sources)|given all this|if (?:unsure|in doubt)\b|(?:do not|don['’]t) (?:make|invent|guess|hallucinate|speculate)\b)|(?:tell|give|show|explain|help|find)\b.{0,40}\b(?:me|us)\b|(?:be|keep it|think|answer|respond|reply|stay)\b[\w ,-]{1,40}[.!]?\)?$)/iu
const OPENING_LINE =
  /\b(?:documents|contexts?|passages|sources|results|chunks|excerpts|snippets|memories|facts|history|conversation|instructions?|rules|guidelines|requirements|tasks?|notes|examples?)\b.{0,40}[:：]\**$/i
// `    with pytest.MonkeyPatch.context() as patch:` is a line of source code
const CODE = /^(?:[ ]{2}|\t)[ \t]*\S.*(?:\w\((?!s\)).*[:;,{(]|[;{])$/
// a question is a single line shorter than this, unlike a paragraph of a document
const LONGEST_QUESTION = 500
const MOST_LINES = 3
const LONGEST_ANNOUNCEMENT = 100

/**
 * Returns whether a heading belongs to a prompt, such as `## Instructions`. Headings of documents may have any other
 * title.
 */
export function isPromptHeading(text: string, start: number): boolean {
  const line = text.slice(start, Math.min(findLineEnd(text, start), start + LONGEST_TITLE)).trim()
  return TITLE.test(line)
}

/** Returns the end of the last line of the paragraph that contains the line at `start`. */
export function findParagraphEnd(text: string, start: number, bound: number): number {
  let line = start
  for (;;) {
    const end = Math.min(findLineEnd(text, line), bound)
    const next = end + 1
    if (next >= bound || findContentStart(text, next, findLineEnd(text, next)) >= findLineEnd(text, next)) return end
    line = next
  }
}

function isPrompt(text: string, start: number): boolean {
  const line = text.lastIndexOf('\n', start - 1) + 1
  if (readCue(text, line) !== undefined) return true
  const first = text.slice(start, Math.min(findLineEnd(text, start), start + LONGEST_QUESTION)).trim()
  if (isPromptHeading(text, start) || isRule(text, start, findLineEnd(text, start))) return true
  if (first.length <= LONGEST_ANNOUNCEMENT && OPENING_LINE.test(first)) return true
  return isInstruction(first)
}

/** Returns whether a line tells the model what to do. */
export function isInstruction(line: string): boolean {
  if ((ASKING.test(line) && OF_THE_PROMPT.test(line)) || REMARK.test(line)) return true
  return ASKING_ELSEWHERE.test(line) && OF_THE_PROMPT_ELSEWHERE.test(line)
}

function isQuestion(text: string, start: number, end: number): boolean {
  if (end - start > LONGEST_QUESTION) return false
  const paragraph = text.slice(start, end).trim()
  return !paragraph.includes('\n') && '?？'.includes(paragraph.at(-1) ?? ' ')
}

/** Returns whether the text from the paragraph at `start` to a cue or the end at `bound` certainly is of the prompt. */
export function isPromptFrom(text: string, start: number, bound: number): boolean {
  if (isPrompt(text, start)) return true
  // a document may ask, too: behind the question there are at most remarks on the answer
  const end = findParagraphEnd(text, start, bound)
  return isQuestion(text, start, end) && areRemarks(text, end, bound) && readCue(text, bound)?.question !== true
}

function areRemarks(text: string, from: number, bound: number): boolean {
  const start = findContentStart(text, from, bound)
  if (start === bound) return true
  const end = findParagraphEnd(text, start, bound)
  if (!isPrompt(text, start) && !isInstruction(text.slice(start, end).trim())) return false
  return areRemarks(text, end, bound)
}

/**
 * Returns whether the last of several paragraphs in this range asks or instructs. The text before `Answer:` is the
 * question.
 */
export function endsInPrompt(text: string, from: number, cue: number): boolean {
  const end = findContentEnd(text, from, cue)
  const start = findLastParagraph(text, from, end)
  if (start === undefined) return false
  const line = text.lastIndexOf('\n', start - 1) + 1
  // instructions are a few lines, while a document's paragraph may begin like one
  if (text.slice(line, end).split('\n', MOST_LINES + 1).length > MOST_LINES) return false
  const first = text.slice(line, Math.min(findLineEnd(text, start), end, start + LONGEST_QUESTION)).trimEnd()
  return (
    (!CODE.test(first) && isInstruction(first.trim())) ||
    (readCue(text, cue)?.question !== true && isQuestion(text, start, end))
  )
}

/** Returns whether a paragraph in this range, other than the first, begins with an instruction to the model. */
export function holdsInstruction(text: string, from: number, bound: number): boolean {
  const lines = text
    .slice(from, bound)
    .split('\n')
    .map((line) => line.trim())
  return lines.some((line, i) => i > 1 && lines[i - 1] === '' && line.length < LONGEST_QUESTION && isInstruction(line))
}

/** Returns whether the last of several lines in this range, at the end of a prompt, asks or instructs. */
export function endsInPromptLine(text: string, from: number, bound: number): boolean {
  const end = findContentEnd(text, from, bound)
  const start = text.lastIndexOf('\n', end - 1) + 1
  if (start <= from || findContentEnd(text, from, start) === from) return false
  const line = text.slice(start, Math.min(end, start + LONGEST_QUESTION)).trim()
  return isInstruction(line) || isQuestion(text, start, end)
}

function findLastParagraph(text: string, from: number, end: number): number | undefined {
  for (let start = text.lastIndexOf('\n', end - 1) + 1; start > from; ) {
    const line = text.lastIndexOf('\n', start - 2) + 1
    if (findContentStart(text, line, start) >= start) return findContentStart(text, start, end)
    start = line
  }
  return undefined
}

// behind a blank line, `Instrucciones:`, but no line of code
const ANNOUNCEMENT =
  /(?<=\n[ \t]*\r?\n)[ \t]*[#*]{0,4}[ \t]?[\p{Lu}\p{Lo}][^\n:：()=[\]{}]{0,60}[:：]\**[ \t]*\r?(?=\n)/gu

/** Returns the short lines ending in a colon with which paragraphs of a body begin. */
export function findAnnouncements(body: string): string[] {
  return Array.from(body.matchAll(ANNOUNCEMENT), ([line]) => line.trim())
}

/** Returns whether a paragraph of a body begins with a line for instructions, such as `Requirements:`. */
export function announcesInstructions(body: string): boolean {
  return findAnnouncements(body).some((line) => LINE.test(line))
}

/** A cue line after a last block. */
export type CueNote = LineNote & { readonly kind: Cue }

export function isCue(note: LineNote): note is CueNote {
  return typeof note.kind === 'object'
}

/** Returns whether a line before a list introduces the question, or its own line up to it does. */
export function asksBefore(text: string, { notes }: LineNotes, listStart: number): boolean {
  if (notes.some((note) => note.start < listStart && isCue(note) && note.kind.question)) return true
  // `Answer this: '…' with this context:`
  const before = text.slice(Math.max(0, listStart - 1_000), listStart)
  return /\b(?:query|question|task)\b[^\n]{0,20}['"“:：]/i.test(before.slice(before.lastIndexOf('\n') + 1))
}

/** Returns whether a cue is said in a talk, or announces an answer. */
export function isSaid({ kind }: CueNote): boolean {
  return kind.answer || kind.kind === 'user' || kind.kind === 'human'
}

/** Returns whether a line behind a blank one introduces the question. */
export function asks(note: LineNote): boolean {
  return note.behindBlank && isCue(note) && note.kind.question
}

/** Returns whether the prompt continues after a container with more than an `Answer:`. */
export function isFollowed({ text, tags, turns }: Marks, { end }: Region): boolean {
  const limit = turns[findIndexFrom(turns, end + 1) - 1]!.end
  const start = findContentStart(text, tags[findIndexFrom(tags, end)]!.end, limit)
  const cue = readCue(text, start)
  const isOpening = cue?.answer && cue.empty && findContentStart(text, findLineEnd(text, start), limit) === limit
  return start < limit && !isOpening
}

// `Helpful answer in German:`
const LONGEST_OPENING = 60

/**
 * Returns whether the cue line that would end the last block may be part of it, as in a list of questions and answers,
 * or in prose with a line that begins `based on the results`. `bound` is the furthest possible end of the block; if
 * `closed`, the list's closing mark is there.
 */
export function mayBeInside(
  text: string,
  { start, kind, behindBlank }: CueNote,
  bound: number,
  closed: boolean,
): boolean {
  const contentEnd = findContentEnd(text, start, bound)
  const lastLine = text.lastIndexOf('\n', contentEnd - 1) + 1
  const isPrompted = lastLine > start && isOpening(text.slice(lastLine, contentEnd), readCue(text, lastLine))
  const end = isPrompted ? findContentEnd(text, start, lastLine) : contentEnd
  const paragraphEnd = findParagraphEnd(text, start, end)
  const isLast = findContentStart(text, paragraphEnd, end) === end
  const { isAnswered, asks } = readParagraph(text, start, paragraphEnd)
  if (behindBlank) return kind.question && isAnswered && (!isLast || (closed && !isPrompted))
  // an answer on the line of its cue is the document's
  if (kind.answer && !kind.empty) return true
  // wrapped lines of prose begin in lower case
  const first = text.charAt(findContentStart(text, start, start + 20))
  if (!isLast || first !== first.toUpperCase() || (isAnswered && !isPrompted)) return true
  // within the paragraph of a block, only a line that asks is certainly not part of the block
  return !(findLineEnd(text, start) >= paragraphEnd || isPrompted || asks)
}

/** Returns whether the model is to complete this line, as a final `Answer:`. */
export function isOpening(line: string, cue: Cue | undefined): boolean {
  return (cue?.answer === true && cue.empty) || (line.length <= LONGEST_OPENING && /[:：]\**$/.test(line))
}

/** Returns whether a paragraph contains an answer that is not left to the model, and whether it asks. */
function readParagraph(text: string, start: number, end: number): { isAnswered: boolean; asks: boolean } {
  let isAnswered = false
  let asks = '?？'.includes(text.slice(start, end).trimEnd().at(-1) ?? ' ')
  for (let line = start; line < end; line = findLineEnd(text, line) + 1) {
    const cue = readCue(text, line)
    if (cue?.question) asks = true
    if (cue?.answer && !cue.empty && line > start) isAnswered = true
  }
  return { isAnswered, asks }
}
