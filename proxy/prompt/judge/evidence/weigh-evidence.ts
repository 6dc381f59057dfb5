/*
 * The evidence for a list and its weight. Marks alone are never enough, because people also number texts of their own.
 * The surrounding text must say that the texts were retrieved, or that the answer is to be based on them.
 */

/** Evidence for a list other than its marks. */
export type Sign =
  /** output of a tool that searches, or of an unnamed tool */
  | 'searched'
  /** output of another kind of tool */
  | 'told'
  /** inside a container of retrieved texts */
  | 'held'
  /** words before or after the list mention several retrieved texts */
  | 'set'
  /** these words mention retrieved text, one or several */
  | 'text'
  /** a question is asked */
  | 'asked'
  /** a line is marked as the question, such as `Question: …` */
  | 'cued'
  /** the answer is to be based on the texts, as in `Answer by the documents alone` */
  | 'grounded'
  /** the prompt says how to cite */
  | 'cited'
  /** little text comes before the list */
  | 'leads'
  /** nothing but the question comes before the list */
  | 'opens'
  /** each block names a different file or page */
  | 'origins'
  /** the prompt mentions the list's tags by name */
  | 'named'

/** Kinds of marks, which differ in weight. */
export type Kind =
  /** a separate role in a chat template */
  | 'template'
  /** words for retrieved texts: `Document 1:`, `<passage>`, `[webpage 1 begin]…[webpage 1 end]` */
  | 'strong'
  /** words for parts of anything: `Result 1:`, `File 1:` */
  | 'weak'
  /** weak words after bullets: commits are also listed as `- [c910e2e]: …` */
  | 'bulleted'
  /** a name between two rules */
  | 'ruled'
  /** names alone, which may be the title of a part or the origin of a text */
  | 'named'
  /** numbers */
  | 'number'
  /** fields: other records also have a title and a text */
  | 'record'
  /** such as `# Source: a.conf`, which may be a comment */
  | 'comment'
  /** texts followed by their origin: only a line above the first one shows where it begins */
  | 'credited'
  /** elements of any kind of data */
  | 'element'
  /** bullets, and titles that are links: used for everything */
  | 'plain'
  /** `Article 1`: used in laws */
  | 'law'
  /** bullets below `Memories:`: the form includes its announcement */
  | 'memories'

type Weights = Readonly<Partial<Record<Sign | 'marks', number>>>

/** Minimum total weight of the marks and all signs of a list. */
const enough = 5

/** Weights of signs, unless the kind overrides them. */
const everywhere: Weights = {
  searched: 5,
  told: 3,
  held: 5,
  set: 5,
  text: 3,
  asked: 2,
  cued: 2,
  grounded: 3,
  cited: 1,
}

const byAnnouncement: Weights = { asked: 0, cued: 0, grounded: 0, cited: 0, told: 0 }

const byKind: Readonly<Record<Kind, Weights>> = {
  template: { marks: 5 },
  strong: { marks: 3 },
  weak: { leads: 1, told: 1 },
  bulleted: { ...byAnnouncement, text: 5 },
  ruled: { marks: 1 },
  named: { ...byAnnouncement, asked: 2, told: 1 },
  number: { text: 5, opens: 2, told: 1 },
  record: { marks: 2 },
  comment: { text: 5, told: 1 },
  credited: { ...byAnnouncement, text: 5 },
  element: { origins: 4, leads: 1, named: 2, told: 1 },
  plain: { ...byAnnouncement, text: 0 },
  law: { ...byAnnouncement, text: 0, held: 0 },
  memories: { marks: 5 },
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
