import type { LabelledRegion, LabelRun } from '../../borders/find-label-run.ts'
import { findContentEnd, findContentStart, findLineEnd } from '../../scan/find-edges.ts'
import type { Region } from '../../scan/find-elements.ts'
import { announcesBlocks } from '../../scan/find-list-heading.ts'
import { rowForm } from '../../scan/labels/find-labels.ts'
import { fileForm, memoryForm, originForm } from '../../scan/labels/find-named-labels.ts'
import { titledForms } from '../../scan/labels/find-titled-labels.ts'
import type { Label } from '../../scan/labels/label.ts'

const HEADING = /^[ \t]{0,3}#{1,6}[ \t]/m
// a heading line, or a line as short as a title that is not a sentence
const TITLE = /^(?:#{1,6}[ \t][^\n]*|\*\*[^\n]*\*\*|[^\n]{0,79}[^.!?。！？…:：;|)`"'”’»\]}>\n])$/

/**
 * Returns whether labels that only name a text's source certainly belong to the texts below them. `end` is the end of
 * the last text.
 */
export function mayHead(
  { marks: { text }, region }: LabelledRegion,
  { labels }: LabelRun,
  ends: readonly number[],
  end: number,
): boolean {
  const { form, start } = labels[0]!
  if (form === rowForm) return isHeaded(text, region, start)
  if (form === fileForm) return isAnnounced(text, region, start)
  if (form === memoryForm) return /memories/i.test(text.slice(Math.max(0, start - FURTHEST_WORDS), start))
  // with headings both in and around the texts, it is unclear which belong to the texts
  if (titledForms.has(form) && !labels.every((label) => hasField(text, label)))
    return !ends.concat(end).some((own, i) => HEADING.test(text.slice(labels[i]!.end, own)))
  if (form !== originForm) return true
  const [field = ''] = /^[^:：]{1,40}(?=[:：])/.exec(text.slice(start, start + 41)) ?? []
  return countLines(text, field.trimEnd().toLowerCase(), start, end) === labels.length && !areTitled(text, labels, ends)
}

/** Counts the lines that begin with a field. If a source is not a file, it is unclear whether it heads a text. */
function countLines(text: string, field: string, from: number, to: number): number {
  let count = 0
  for (let line = from; line < to; line = findLineEnd(text, line) + 1) {
    const at = findContentStart(text, line, Math.min(findLineEnd(text, line), to))
    if (text.slice(at, at + field.length).toLowerCase() !== field) continue
    if (/^[ \t]?[:：]/.test(text.slice(at + field.length, at + field.length + 2))) count++
  }
  return count
}

/**
 * Returns whether each block except the last ends with a title-like paragraph, which then belongs to the next block.
 */
function areTitled(text: string, labels: readonly Label[], ends: readonly number[]): boolean {
  return ends.every((end, i) => {
    const line = text.lastIndexOf('\n', end - 1) + 1
    if (line <= labels[i]!.end || !TITLE.test(text.slice(line, end).trim())) return false
    const above = findContentEnd(text, labels[i]!.end, line)
    return text.slice(above, line).split('\n').length > 2
  })
}

const FIELD = /\n(?:[a-z]{1,20}[ _]){0,2}(?:url|link|source)[:：]/i
// memories are announced within so many characters
const FURTHEST_WORDS = 1_200

/** Returns whether the address below a heading is the value of a field, which a document's own headings lack. */
function hasField(text: string, { start, end }: Label): boolean {
  return FIELD.test(text.slice(start, end))
}

// `id|text`
const COLUMNS = /^\w{1,24}(?:\|\w{1,24}){0,6}\|(?:text|content|chunk|passage|snippet|description|document)$/i

/** Returns whether the line right above a list names its columns, the last of which holds the texts. */
function isHeaded(text: string, region: Region, start: number): boolean {
  const end = findContentEnd(text, region.start, start)
  const line = Math.max(text.lastIndexOf('\n', end - 1) + 1, region.start)
  return end - line < 200 && COLUMNS.test(text.slice(line, end).trim())
}

/** Returns whether the line before a list announces retrieved texts, or the list begins an element for such texts. */
function isAnnounced(text: string, region: Region, start: number): boolean {
  const end = findContentEnd(text, region.start, start)
  if (end === region.start) return region.isKin
  return announcesBlocks(text, text.lastIndexOf('\n', end - 1) + 1, end)
}
