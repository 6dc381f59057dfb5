import type { Label } from '../scan/labels/label.ts'

// the sign of an item, in front of the list's first block on its line
const ITEM = /^[ \t]{0,3}(?:[-*•]|\d+[.)]) (?=\S)/

function readItem(text: string, [first]: readonly Label[]): string | undefined {
  const line = text.lastIndexOf('\n', first!.start - 1) + 1
  return ITEM.exec(text.slice(line, first!.start))?.[0]
}

/**
 * Returns where the next instruction begins, if the list's blocks end one item of a list of instructions, as in `- Use
 * this context: Source: …`. Undefined if blocks contain such items themselves.
 */
export function findItemEnd(text: string, labels: readonly Label[], from: number, limit: number): number | undefined {
  const item = readItem(text, labels)
  const next = item === undefined ? -1 : text.indexOf(`\n${item}`, labels[0]!.start)
  return next >= from && next < limit ? next + 1 : undefined
}

/** Returns whether a list ends one of several instructions and nothing shows where the next instruction begins. */
export function isOpenItem(text: string, labels: readonly Label[], limit: number): boolean {
  const isItem = readItem(text, labels) !== undefined
  return isItem && findItemEnd(text, labels, labels.at(-1)!.end, limit) === undefined
}
