import type { BlockSpan } from '../context-list.ts'

const TALK =
  /^(?:[[(<*]{0,3}\d[\d:., T-]{2,20}[\])>]{0,2}\s{0,2}-?\s?)?(?:\*\*|<|\[)?(?:(user|assistant|bot|human|ai|system|agent|customer|client|operator|doctor|patient|interviewer|speaker(?: \w{1,3})?)|(\p{Lu}[\p{L}.' -]{0,30}))(?:\s?\([^)\n]{1,30}\))?(?:\*\*|>|\])?\s?[:：]/iu
const CAPITAL = /^\p{Lu}/u

/** Returns whether each block begins with its speaker and several speakers alternate: roles, or names that recur. */
export function areTalk(blocks: readonly BlockSpan[], headOf: (block: BlockSpan) => string): boolean {
  const names: string[] = []
  // a duplicate document is not a recurring speaker
  const said = new Set<string>()
  let roles = 0
  for (const block of blocks) {
    const head = headOf(block)
    const [, role, name] = TALK.exec(head.slice(0, 100)) ?? []
    if (role === undefined && !CAPITAL.test(name ?? '')) return false
    if (said.has(head)) continue
    said.add(head)
    if (role !== undefined) roles++
    names.push((role ?? name!).toLowerCase())
  }
  const different = new Set(names).size
  return different > 1 && (different < names.length || roles === names.length)
}
