import type { Span } from '../../common/json/json-spans.ts'
import { CitationLabels, type LabelForm } from './citation-labels.ts'
import { CitationMapper, mapCitations } from './map-citations.ts'

// in specimens such as `[citation:X]`, `[^index^]` and `[doc {n}]`
const PLACEHOLDER = toPattern('[XYZNIJKxyznijk]|\\d{1,6}')
const WORD = toPattern('[Ii]ndex|IDX|idx|[Ii][Dd]s?|[Nn]um(?:ber)?s?|no')
const ELLIPSIS = /(?:[,;]\s?)?(?:\.\.\.|…)/g

const rotation = new Map(Array.from({ length: 9 }, (_, i) => [String(i + 1), String(((i + 1) % 9) + 1)]))

/**
 * Whether citations written like `specimen` are mapped back for a list with such labels. The specimen has digits or
 * placeholders (X, n, i, index, id, number) where numbers stand, as in `[citation:X]` and `[Sources: 1, 3]`.
 */
export function isMappedForm(specimen: string, form: LabelForm): boolean {
  const plain = specimen.trim().replace(ELLIPSIS, '')
  const toDigits = (pattern: RegExp): string => {
    let count = 0
    return plain.replace(pattern, () => String((count++ % 8) + 1))
  }
  const letters = toDigits(PLACEHOLDER)
  const numbered = letters === plain && !/\d/.test(plain) ? toDigits(WORD) : letters
  if (!/\d/.test(numbered)) return false
  const labels = new CitationLabels([{ ...form, labels: rotation }])
  const expected = numbered.replace(/\d+/g, (label) => rotation.get(label)!)
  // behind a sentence if it is in brackets, or else on a line of its own
  const [before, behind] = /^[^\p{L}\p{N}]/u.test(numbered) ? ['So it is ', '.'] : ['So it is.\n', '\n']
  return mapCitations(labels, before + numbered + behind) === before + expected + behind
}

/** Finds placeholders, also in braces. */
function toPattern(source: string): RegExp {
  const word = `(?<![\\p{L}\\p{N}])(?:${source})(?![\\p{L}\\p{N}])`
  return new RegExp(`\\{${word}\\}|<${word}>|${word}`, 'gu')
}

/** in characters; decided one after the other, so that the first citation ends the search */
const stepLength = 4_096

/**
 * Whether a document contains what would be mapped as a citation of one of the `labels` if an answer quoted it, such as
 * the `[2]` of a footnote; or whether an answer contains such a citation. Linear.
 */
export function holdCitations(
  text: string,
  form: LabelForm,
  labels: readonly string[],
  { isDocument = true }: { readonly isDocument?: boolean } = {},
): boolean {
  const mapper = new CitationMapper(toChanged(form, labels), isDocument)
  for (let at = 0; at < text.length; at += stepLength) {
    const end = at + stepLength
    if (mapper.advance(text.slice(at, end), end >= text.length).changes.length > 0) return true
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
