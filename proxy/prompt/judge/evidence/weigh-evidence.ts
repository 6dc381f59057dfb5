/*
 * The evidence for a list and its weight. Marks alone are never enough, because people also number texts of their own.
 * The surrounding text must say that the texts were retrieved, or ask a question.
 */

/** Evidence for a list other than its marks. */
export type Sign =
  /** output of a tool that searches, or of an unnamed tool */
  | 'searched'
  /** inside a container of retrieved texts */
  | 'held'
  /** words before or after the list mention several retrieved texts */
  | 'set'
  /** these words mention retrieved text, one or several */
  | 'text'
  /** each block names a different file or page */
  | 'origins'
  /** a question is asked */
  | 'asked'
  /** nothing but the question comes before the list, and a line is marked as the question */
  | 'opens'

/** Kinds of marks, which differ in weight. */
export type Kind =
  /** bullets below `Memories:`: the form includes its announcement */
  | 'certain'
  /** words for retrieved texts: `Document 1:`, `<passage>` */
  | 'strong'
  /** words for parts of anything: `Result 1:`, `File 1:` */
  | 'weak'
  /** numbers */
  | 'number'
  /** names alone, which may be the title of a part or the origin of a text */
  | 'named'
  /** fields: other records also have a title and a text */
  | 'record'
  /** elements of any kind of data */
  | 'element'
  /** bullets, rules and texts followed by their origin: used for everything */
  | 'plain'

type Weights = Readonly<Partial<Record<Sign | 'marks', number>>>

/** Minimum total weight of the marks and all signs of a list. */
const enough = 5

/** Weights of signs, unless the kind overrides them. */
const everywhere: Weights = { searched: 5, held: 5, set: 5, text: 3, asked: 2 }

const byKind: Readonly<Record<Kind, Weights>> = {
  certain: { marks: 5 },
  strong: { marks: 3 },
  weak: {},
  number: { text: 5, asked: 0, opens: 5 },
  named: { text: 5, asked: 0 },
  record: { marks: 2 },
  element: { origins: 5 },
  plain: { text: 0, asked: 0 },
}

/** Returns whether marks of this kind, together with these signs, suffice to show that a list has retrieved texts. */
export function isEnough(kind: Kind, signs: Iterable<Sign>): boolean {
  const weights = { ...everywhere, ...byKind[kind] }
  let sum = weights.marks ?? 0
  if (sum >= enough) return true
  for (const sign of signs) {
    sum += weights[sign] ?? 0
    if (sum >= enough) return true
  }
  return false
}
