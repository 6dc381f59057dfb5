import type { ContextIndex, ContextNode } from './context-index.ts'

/** Traversal (ContextPilot §4.2): returns the node at the end of a search path; undefined if there is none. */
export function nodeAt({ root }: ContextIndex, path: readonly number[]): ContextNode | undefined {
  let node: ContextNode | undefined = root
  for (const slot of path) node = node?.children.get(slot)
  return node
}
