import { CitationLabels, type LabelForm } from './citation-labels.ts'
import { CitationMapper } from './map-citations.ts'

// in specimens such as `[citation:X]`, `[^index^]` and `[doc {n}]`
const PLACEHOLDER = /[{<]?(?<![\p{L}\p{N}])(?:[XYZNKIJxyznkij]|\d{1,6})(?![\p{L}\p{N}])[}>]?/gu
const WORD = /[{<]?(?<![\p{L}\p{N}])(?:index|idx|ids?|num(?:ber)?s?|no)(?![\p{L}\p{N}])[}>]?/giu
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
  const mapper = new CitationMapper(labels)
  return mapper.push(before + numbered + behind) + mapper.flush() === before + expected + behind
}
