import type { LabelledRegion, LabelRun } from '../../borders/find-label-run.ts'
import { findContentEnd, findContentStart, findLineEnd } from '../../scan/find-edges.ts'
import type { Region } from '../../scan/find-elements.ts'
import { announcesBlocks } from '../../scan/find-list-heading.ts'
import { rowForm } from '../../scan/labels/find-labels.ts'
import { fileForm, originForm } from '../../scan/labels/find-named-labels.ts'
import { titledForms } from '../../scan/labels/find-titled-labels.ts'
import type { Label } from '../../scan/labels/label.ts'

const HEADING = /^[ \t]{0,3}#{1,6}[ \t]/m
// a line that is a heading, or as short as a title and no sentence
const TITLE = /^(?:#{1,6}[ \t][^\n]*|\*\*[^\n]*\*\*|[^\n]{0,79}[^.!?。！？…:：;|)`"'”’»\]}>\n])$/

/** Whether labels that name nothing but where a text is from surely head the texts below them; `end` is where the last one ends. */
export function mayHead(
  { marks: { text }, region }: LabelledRegion,
  { labels }: LabelRun,
  ends: readonly number[],
  end: number,
): boolean {
  const { form, start } = labels[0]!
  if (form === rowForm) return isHeaded(text, region, start)
  if (form === fileForm) return isAnnounced(text, region, start)
  // of headings in the texts and around them nobody knows which is whose
  if (titledForms.has(form)) return !ends.concat(end).some((own, i) => HEADING.test(text.slice(labels[i]!.end, own)))
  if (form !== originForm) return true
  const [field = ''] = /^[^:：]{1,40}(?=[:：])/.exec(text.slice(start, start + 41)) ?? []
  return countLines(text, field.trimEnd().toLowerCase(), start, end) === labels.length && !areTitled(text, labels, ends)
}

/** How many lines begin with a field: of a source that is no file nobody knows whether it heads a text. */
function countLines(text: string, field: string, from: number, to: number): number {
  let count = 0
  for (let line = from; line < to; line = findLineEnd(text, line) + 1) {
    const at = findContentStart(text, line, Math.min(findLineEnd(text, line), to))
    if (text.slice(at, at + field.length).toLowerCase() !== field) continue
    if (/^[ \t]?[:：]/.test(text.slice(at + field.length, at + field.length + 2))) count++
  }
  return count
}

/** Whether each block but the last ends with a paragraph like a title: then it is that of the next one. */
function areTitled(text: string, labels: readonly Label[], ends: readonly number[]): boolean {
  return ends.every((end, i) => {
    const line = text.lastIndexOf('\n', end - 1) + 1
    if (line <= labels[i]!.end || !TITLE.test(text.slice(line, end).trim())) return false
    const above = findContentEnd(text, labels[i]!.end, line)
    return text.slice(above, line).split('\n').length > 2
  })
}

// `id|text`
const COLUMNS = /^\w{1,24}(?:\|\w{1,24}){0,6}\|(?:text|content|chunk|passage|snippet|description|document)$/i

/** Whether the line right above a list names its columns, of which the last has the texts. */
function isHeaded(text: string, region: Region, start: number): boolean {
  const end = findContentEnd(text, region.start, start)
  const line = Math.max(text.lastIndexOf('\n', end - 1) + 1, region.start)
  return end - line < 200 && COLUMNS.test(text.slice(line, end).trim())
}

/** Whether the line in front of a list announces retrieved texts, or an element for such begins with it. */
function isAnnounced(text: string, region: Region, start: number): boolean {
  const end = findContentEnd(text, region.start, start)
  if (end === region.start) return region.isKin
  return announcesBlocks(text, text.lastIndexOf('\n', end - 1) + 1, end)
}
