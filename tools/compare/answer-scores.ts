import { countEach } from '#index/group-by.ts'

/** Words of a text as SQuAD compares them: lower case, without punctuation and English articles. */
function wordsOf(text: string): string[] {
  const plain = text.toLowerCase().replaceAll(/[\p{P}\p{S}]/gu, ' ')
  return plain.split(/\s+/).filter((word) => word !== '' && word !== 'a' && word !== 'an' && word !== 'the')
}

/** Whether two texts say the same in the same words: 1 or 0. */
export function exactMatch(a: string, b: string): number {
  return wordsOf(a).join(' ') === wordsOf(b).join(' ') ? 1 : 0
}

/** How many words two texts share: the harmonic mean of precision and recall, from 0 to 1 (SQuAD's F1). */
export function tokenF1(a: string, b: string): number {
  const [left, right] = [wordsOf(a), wordsOf(b)]
  if (left.length === 0 || right.length === 0) return left.length === right.length ? 1 : 0
  const counts = countEach(left)
  let shared = 0
  for (const word of right) {
    const left = counts.get(word) ?? 0
    if (left > 0) shared += 1
    counts.set(word, left - 1)
  }
  return (2 * shared) / (left.length + right.length)
}

/** Returns the best score against any of several correct answers; undefined if there are none. */
export function bestOf(score: typeof tokenF1, answer: string, right: readonly string[]): number | undefined {
  return right.length === 0 ? undefined : Math.max(...right.map((one) => score(answer, one)))
}
