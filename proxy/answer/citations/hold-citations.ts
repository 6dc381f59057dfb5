import type { Span } from '../../common/json/json-spans.ts'
import { CitationLabels, type LabelForm } from './citation-labels.ts'
import { CitationMapper } from './map-citations.ts'

/** in characters; decided one after the other, so that the first citation ends the search */
const stepLength = 4_096

/**
 * Whether a document contains what would be mapped as a citation of one of the `labels` if an answer quoted it, such as
 * the `[2]` of a footnote. Linear.
 */
export function holdCitations(document: string, form: LabelForm, labels: readonly string[]): boolean {
  const mapper = new CitationMapper(toChanged(form, labels), true)
  for (let at = 0; at < document.length; at += stepLength) {
    const end = at + stepLength
    if (mapper.advance(document.slice(at, end), end >= document.length).changes.length > 0) return true
  }
  return false
}

/** Returns where a text contains citations of the labels. */
export function findCitations(text: string, form: LabelForm, labels: readonly string[]): readonly Span[] {
  return new CitationMapper(toChanged(form, labels)).advance(text, true).changes
}

/** No label is translated to itself. */
function toChanged(form: LabelForm, labels: readonly string[]): CitationLabels {
  return new CitationLabels([{ ...form, labels: new Map(labels.map((label) => [label, `${label}0`])) }])
}
