/** A name that differs in more than this share of its letters is not suggested. */
const furthestShare = 0.4

/** Returns the known name with the fewest edits from this one; undefined if none is similar enough. */
export function findNearestName(name: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined
  let least = Math.ceil(name.length * furthestShare)
  for (const candidate of known) {
    const distance = countEdits(name, candidate)
    if (distance < least) [nearest, least] = [candidate, distance]
  }
  return nearest
}

/** Counts the letters to insert, delete or replace (Levenshtein). */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
