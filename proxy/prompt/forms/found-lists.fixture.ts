import type { ContextList } from '../context-list.ts'
import { finish } from '../finish.ts'
import type { TextTraits } from '../scan/find-marks.ts'
import { type FoundLists, searchLists } from './find-context-lists.ts'

/* What the finder found in a text, in a form for its tests. */

/** Finds the lists of a text at once. */
export function findContextLists(text: string, traits?: TextTraits): ContextList[] {
  return findSureLists(text, traits).lists
}

/** Like `findContextLists`, but also returns what is left alone and why. */
export function findSureLists(text: string, traits: TextTraits = {}): FoundLists {
  return finish(searchLists(text, traits))
}

/**
 * Puts a text below a line that announces it. For tests of marks and borders, which alone are not evidence for a list.
 */
export function announced(text: string): string {
  return `Use these documents:\n\n${text}`
}

/** Returns the contents of the blocks, list by list. */
export function contentsOf(text: string, traits?: TextTraits): string[][] {
  return findContextLists(text, traits).map(({ blocks }) =>
    blocks.map((block) => text.slice(block.contentStart, block.contentEnd)),
  )
}

/** Returns the labels of all blocks. */
export function labelsOf(text: string): (string | undefined)[] {
  const blocks = findContextLists(text).flatMap((list) => list.blocks)
  return blocks.map(({ label }) => label && text.slice(label.start, label.end))
}

/** Returns the text after each list. */
export function behindLists(text: string): string[] {
  return findContextLists(text).map(({ end }) => text.slice(end))
}
