import type { Label } from '../scan/labels/label.ts'

/**
 * Returns where the next instruction begins, if the list's blocks end one item of a list of instructions, as in `- Use
 * this context: Source: …`. Undefined if blocks contain such items themselves.
 */
export function findItemEnd(text: string, labels: readonly Label[], from: number, limit: number): number | undefined {
  const { start } = labels[0]!
  const line = text.lastIndexOf('\n', start - 1) + 1
  const bullet = /^[ \t]{0,3}[-*•] (?=\S)/.exec(text.slice(line, start))?.[0]
  if (bullet === undefined) return undefined
  const next = text.indexOf(`\n${bullet}`, start)
  return next >= from && next < limit ? next + 1 : undefined
}

/** Returns whether a list ends one of several instructions and nothing shows where the next instruction begins. */
export function isOpenItem(text: string, labels: readonly Label[], limit: number): boolean {
  const { start } = labels[0]!
  const line = text.lastIndexOf('\n', start - 1) + 1
  if (line === start || !/^[ \t]{0,3}(?:[-*•]|\d+[.)]) (?=\S)/.test(text.slice(line, start))) return false
  return findItemEnd(text, labels, labels.at(-1)!.end, limit) === undefined
}
