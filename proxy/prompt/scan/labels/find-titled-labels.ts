import { findContentEnd, findLineEnd } from '../find-edges.ts'
import { toLabel } from './dress.ts'
import { METADATA } from './find-headed-numbers.ts'
import type { Label } from './label.ts'

/*
 * Labels with neither a number nor a word for a document: a title with the address of its text, metadata as Python
 * prints it, or a relevance score. What they say moves with their block.
 */

const URL = 'https?:\\/\\/[^\\s()<>]{1,300}'
// `**Rome** (https://a.example)`, alone on its line
const BOLD_TITLE = new RegExp(`\\*\\*[^*\\n]{1,160}\\*\\*[ \\t]{1,2}[(<]${URL}[)>]:?(?=[ \\t]*\\r?\\n)`, 'iy')
// `### Rome`, with its address right below
const HEADED_TITLE = new RegExp(
  `#{1,6}[ \\t][^\\n]{1,200}\\r?\\n(?:(?:[a-z]{1,20}[ _]){0,2}(?:url|link|source)[:：][ \\t]?)?<?${URL}>?(?=[ \\t]*\\r?\\n)`,
  'iy',
)
// `*. {'title': 'Rome'}`
const BULLET = /[-*•]\.?[ \t](?=\{)/y
// `(score=0.83) text`
const SCORED =
  /\((?:relevance|similarity|distance)?[ _]?(?:score|relevance|similarity|distance)[ \t]?[:=][ \t]?-?\d{1,3}(?:\.\d{1,20})?[ \t]?%?\)[ \t]*(?=\S|\r?\n)/iy
// `Score: 0.83`, alone on its line above a text; whole numbers are also points and grades
const SCORE_LINE =
  /(?:(?:relevance|similarity|rerank(?:er|ing)?|cosine|vector|search|match)[ _])?(?:score|similarity|relevance|distance)[ \t]?[:=][ \t]?(?:0?\.\d{1,20}|1\.0{1,20})[ \t]*\r?\n(?=[ \t]*\S)/iy
const SCORED_INITIALS = 'sSrRcCvVmMdD'
const [boldForm, headedForm] = ['**()~', '#()~']

/** The forms of titles with addresses. */
export const titledForms: ReadonlySet<string> = new Set([boldForm, headedForm])

/** Reads the label that begins at `start`, the first character of its line. */
export function readTitledLabel(text: string, start: number): Label | undefined {
  switch (text[start]) {
    case '*':
      return match(text, start, BOLD_TITLE, boldForm) ?? readMetadata(text, start)
    case '-':
    case '•':
      return readMetadata(text, start)
    case '#':
      return match(text, start, HEADED_TITLE, headedForm)
    case '(':
      return match(text, start, SCORED, '(score)~')
    default:
      return SCORED_INITIALS.includes(text[start] ?? '-') ? match(text, start, SCORE_LINE, 'score~') : undefined
  }
}

function match(text: string, start: number, shape: RegExp, form: string): Label | undefined {
  shape.lastIndex = start
  const found = shape.exec(text)
  return found === null ? undefined : toLabel(start, start + found[0].length, form, true)
}

function readMetadata(text: string, start: number): Label | undefined {
  BULLET.lastIndex = start
  const bullet = BULLET.exec(text)
  if (bullet === null) return undefined
  METADATA.lastIndex = start + bullet[0].length
  const form = `${bullet[0]}{}~`
  return METADATA.test(text)
    ? toLabel(start, findContentEnd(text, start, findLineEnd(text, start)), form, true)
    : undefined
}
