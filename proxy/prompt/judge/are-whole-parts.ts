import { readCue } from '../scan/find-cue-line.ts'
import { BLANK_LINE } from '../scan/find-edges.ts'
import { announcesSet } from './read-evidence.ts'

// what goes on in the next part, or comes from the part before: an announced list, an ending that announces, a rule, a block of a list
const GOES_ON =
  /^\s*(?:#{1,6} |\*\*)?[\w ]{0,40}\b(?:documents|contexts?|passages|sources|results|chunks|excerpts|snippets|articles)\b[^\n]{0,40}[:：](?:\*\*)?[ \t\r]*\n|(?:[:：]|\n[ \t]*(?:-{3,40}|={3,40}))\s*$|(?<![^\n])(?:\[{1,2}[\w# -]{1,20}\d\]|<(?:doc|source|passage|context|chunk|search))/i
// code of a file with its path, as editors pass it on
const FILE_PART = /^(`{3,}[\w./@+-]*[./][\w./@+ -]*)(?:\([^()\n]*\))?[ \t]*\n/
const ASKING = /[?？]["'”’»)]?$|^(?:who|whom|whose|what|when|where|which|why|how)\b/i
// a title above the text, or a first-level heading
const TITLED = /^(?:# [^\n]+|(?![-*+>|#`]|\d+[.)])[^\n]{1,100}[^\n.!?。！？:：,;])\n+(?=\S)/
// words to the model, generated markup, and parts of a sequence: messages, steps, chapters
const OTHER =
  /^(?:please|you are|you have|use|using|answer|given|based on|read|follow|summari[sz]e|the user|note|important)\b|^[<[{]|[:：]$|^(?:#{1,6} |\*\*|\[)?(?:(?:step|chapter|part|section|scene|act|day|week|month|version|turn|round|release|lesson|episode|page|slide|schritt|kapitel|teil|étape|chapitre|partie|paso|capítulo|parte)\s*#?[\dIVX]+\b|第[\d一二三四五六七八九十]|(?:from|to|date|sent|subject|von|an|datum|betreff|objet|fecha|asunto)\s*:|(?:user|assistant|human|ai|system|me|you)\s*:|\d{4}-\d\d-\d\d|v?\d+\.\d+)/i
const LONGEST_HEAD = 300
const SHORTEST_PASSAGE = 120
const LONGEST_PARAGRAPH = 2_500
const MARKED_LINE = /\n[ \t\r]*\n|^(?:#|[-*+] |\d+[.)] )/m

/** The parts of a message that are blocks, from `from` up to but not including `to`. */
interface PartRange {
  readonly from: number
  readonly to: number
}

/**
 * Finds which of these texts are whole documents; the last text is the question. Being separate parts is not enough,
 * because a long text may be pasted in pieces. Either each is a file with its name, or each reads like an independent text
 * and the last one asks a question. In all other cases only the author knows.
 */
export function findWholeParts(texts: readonly string[]): PartRange | undefined {
  const to = texts.length - 1
  const question = texts[to]!.trim()
  const files = texts.slice(0, to).map((text) => FILE_PART.exec(text.slice(0, LONGEST_HEAD).trimStart())?.[1])
  const from = files.findIndex((file) => file !== undefined)
  if (from >= 0 && from <= 1) {
    const named = files.slice(from)
    return named.length > 1 && named.every(Boolean) && new Set(named).size === named.length ? { from, to } : undefined
  }
  return areWholeParts(texts, question) ? { from: 0, to } : undefined
}

function areWholeParts(texts: readonly string[], question: string): boolean {
  return !texts.some((text) => GOES_ON.test(text)) && areOwnTexts(texts.slice(0, -1), question)
}

/** Returns whether each part reads like an independent text and the question asks about them. */
function areOwnTexts(parts: readonly string[], question: string): boolean {
  const asks = ASKING.test(question) || readCue(question, 0)?.question === true
  if (!asks || BLANK_LINE.test(question)) return false
  const bodies = parts.map((text) => text.trim())
  if (bodies.some((body) => body === '' || OTHER.test(body))) return false
  // verses have short first lines too, but no sentences
  if (bodies.every((body) => TITLED.test(body) && /^#|[.!?。！？]/.test(body))) return true
  if (!bodies.every((body) => isParagraph(body))) return false
  // remarks and one text in pieces come in parts too; only whole passages are evidence without further words
  return announcesSet(question) || readCue(question, 0) !== undefined || bodies.every((body) => isPassage(body))
}

function isPassage(body: string): boolean {
  return body.length >= SHORTEST_PASSAGE && /^\P{Ll}.*[.!?。！？]["'”’»)\]]?$/su.test(body)
}

function isParagraph(body: string): boolean {
  return body.length <= LONGEST_PARAGRAPH && !MARKED_LINE.test(body)
}
