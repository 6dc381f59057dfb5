/** A name that differs in more than this share of its letters was not what was meant. */
const furthestShare = 0.4

/** Returns the known name that is written most like this one, or that goes on where it ends; undefined if none is alike. */
export function findNearestName(name: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined
  let least = Math.ceil(name.length * furthestShare)
  for (const candidate of known) {
    const distance = countEdits(name, candidate)
    if (distance < least) [nearest, least] = [candidate, distance]
  }
  return nearest
}

/** How many letters have to be put in, left out or replaced (Levenshtein). */
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
