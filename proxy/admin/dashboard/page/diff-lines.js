/** Texts with more pairs of lines are shown as entirely replaced: the table of common lines would be too large. */
const mostPairs = 4_000_000

/** A JSON value as lines, one for every line of its texts, so that a moved block shows as moved lines. */
export function linesOf(value, path = '') {
  if (typeof value === 'string' && value.includes('\n')) {
    return [{ text: `${path}:`, isPath: true }, ...value.split('\n').map((text) => ({ text }))]
  }
  if (value === null || typeof value !== 'object') return [{ text: `${path}: ${value}` }]
  const pathOf = (key) => (path === '' ? key : `${path}.${key}`)
  return Object.entries(value).flatMap(([key, member]) =>
    linesOf(member, Array.isArray(value) ? `${path}[${key}]` : pathOf(key)),
  )
}

/** All lines of both in order, each with its kind: `add`, `del`, or empty if the line is in both. */
export function diffLines(before, after) {
  const start = countEqual(before, after, (lines, i) => lines[i])
  const [restBefore, restAfter] = [before.slice(start), after.slice(start)]
  const end = countEqual(restBefore, restAfter, (lines, i) => lines[lines.length - 1 - i])
  return [
    ...before.slice(0, start).map(markAs('')),
    ...diffMiddle(restBefore.slice(0, restBefore.length - end), restAfter.slice(0, restAfter.length - end)),
    ...before.slice(before.length - end).map(markAs('')),
  ]
}

function countEqual(a, b, at) {
  let equal = 0
  while (equal < Math.min(a.length, b.length) && at(a, equal).text === at(b, equal).text) equal++
  return equal
}

function diffMiddle(a, b) {
  if (a.length * b.length > mostPairs) return [...a.map(markAs('del')), ...b.map(markAs('add'))]
  const common = commonLengths(a, b)
  const lines = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length) {
    if (a[i].text === b[j].text) {
      lines.push(markAs('')(a[i++]))
      j++
    } else if (common[i + 1][j] >= common[i][j + 1]) lines.push(markAs('del')(a[i++]))
    else lines.push(markAs('add')(b[j++]))
  }
  return [...lines, ...a.slice(i).map(markAs('del')), ...b.slice(j).map(markAs('add'))]
}

/** For each pair of positions: how many lines both have in common from there on, in order. */
function commonLengths(a, b) {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1))
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const isEqual = a[i].text === b[j].text
      lengths[i][j] = isEqual ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1])
    }
  }
  return lengths
}

function markAs(kind) {
  return (line) => ({ ...line, kind })
}
