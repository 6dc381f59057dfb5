/*
 * What speaks for a list, and how much. Marks alone are never enough: anybody numbers texts of his own. What stands
 * around them has to say that they were retrieved, or that the answer is to be made of them.
 */

/** What may speak for a list besides its marks. */
export type Sign =
  /** a tool said it that searches, or one without a name */
  | 'searched'
  /** a tool of another kind said it */
  | 'told'
  /** a container of retrieved texts holds it */
  | 'held'
  /** words in front, or behind, speak of several retrieved texts */
  | 'set'
  /** they speak of retrieved text, be it one or several */
  | 'text'
  /** something is asked */
  | 'asked'
  /** a line says that it is the question, as `Question: …` */
  | 'cued'
  /** the answer is to be made of the texts, as in `Answer by the documents alone` */
  | 'grounded'
  /** the prompt says how to cite */
  | 'cited'
  /** little stands in front of it */
  | 'leads'
  /** nothing stands in front of it but the question */
  | 'opens'
  /** each block names another file or page */
  | 'origins'
  /** the prompt speaks of the list's tags by name */
  | 'named'

/** What the marks of a list are worth. */
export type Kind =
  /** a role of its own in a chat template */
  | 'template'
  /** words for retrieved texts: `Document 1:`, `<passage>`, `[webpage 1 begin]…[webpage 1 end]` */
  | 'strong'
  /** words for parts of anything: `Result 1:`, `File 1:` */
  | 'weak'
  /** weak words behind bullets: `- [c910e2e]: …` is how commits are listed, too */
  | 'bulleted'
  /** a name between two rules */
  | 'ruled'
  /** names alone, which say what a part is called as well as where a text is from */
  | 'named'
  /** numbers */
  | 'number'
  /** fields: other records have a title and a text, too */
  | 'record'
  /** as `# Source: a.conf`, which is a comment, too */
  | 'comment'
  /** texts with what they are from behind them: where the first one begins, only a line above it says */
  | 'credited'
  /** elements of any kind of data */
  | 'element'
  /** bullets and titles that are links: of everything */
  | 'plain'
  /** `Article 1`: of laws */
  | 'law'
  /** bullets below `Memories:`: the form itself is announced */
  | 'memories'

type Weights = Readonly<Partial<Record<Sign | 'marks', number>>>

/** What a list has to weigh, with its marks and all signs. */
const enough = 5

/** What signs weigh where a kind says nothing else. */
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

/** Whether marks of this kind are enough, with these signs, to say that a list is one of retrieved texts. */
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
