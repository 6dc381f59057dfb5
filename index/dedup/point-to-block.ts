import { annotateLocation } from './annotate-context.ts'
import { countWords, firstWords, type HintWords, hintLengths, lastWords } from './hint-words.ts'
import type { LabelBearer } from './label-bearers.ts'
import type { ShownBlock, ShownBlocks } from './shown-blocks.ts'

/** What a pointer says besides a label, to be unambiguous. */
export interface PointerHint {
  /** first words of the target, or of the part of it; undefined if the label is enough */
  readonly begins: string | undefined
  /** last words of the part; undefined for a whole block */
  readonly ends: string | undefined
}

/** The words of a pointer, and their hint. */
export interface PointerWords {
  readonly text: string
  readonly hint: PointerHint
}

/** The block that points, and its target. */
interface Pointing {
  readonly self: LabelBearer
  readonly target: ShownBlock
}

const bare: PointerHint = { begins: undefined, ends: undefined }

/** Returns words that can only mean the target; undefined if there are none of reasonable length. */
export function pointToBlock(pointing: Pointing, shown: ShownBlocks, template?: string): PointerWords | undefined {
  const { target } = pointing
  const location = annotateLocation(target.label, template)
  if (isOneStretch(pointing, bare, shown)) return { text: location, hint: bare }
  for (const length of hintLengths) {
    const { words, isCut } = firstWords(target.content, length)
    const hint = { begins: words, ends: undefined }
    if (isOneStretch(pointing, hint, shown)) {
      return { text: `${location} (It begins: "${words}${isCut ? '…' : ''}")`, hint }
    }
    if (!isCut) return undefined
  }
  return undefined
}

/** Returns words that can only mean a part of the target, which must consist of whole lines; undefined if none do. */
export function pointToPart(
  pointing: Pointing,
  part: string,
  shown: ShownBlocks,
  template?: string,
): PointerWords | undefined {
  const { target } = pointing
  const location = annotateLocation(target.label, template)
  for (const length of hintLengths) {
    const first = findOnce(target, part, firstWords, length, shown)
    const last = findOnce(target, part, lastWords, length, shown)
    if (!first || !last) return undefined
    const hint = { begins: first.words, ends: last.words }
    if (isOneStretch(pointing, hint, shown)) {
      const words = `(From "${first.words}${first.isCut ? '…' : ''}" to "${last.isCut ? '…' : ''}${last.words}")`
      // the part consists of whole lines, so its replacement must too
      return { text: `${location} ${words}${part.endsWith('\n') ? '\n' : ''}`, hint }
    }
  }
  return undefined
}

/**
 * Returns words from one end of a part that occur only once in the target, trying quotes of at least `least`
 * characters.
 */
function findOnce(
  target: ShownBlock,
  part: string,
  wordsAt: (part: string, most: number) => HintWords,
  least: number,
  shown: ShownBlocks,
): HintWords | undefined {
  for (const length of hintLengths) {
    if (length < least) continue
    const found = wordsAt(part, length)
    if (standsOnce(found.words, target, shown)) return found
  }
  return undefined
}

/** Returns whether the words of a pointer can mean only one stretch of the prompt. */
export function isOneStretch({ self, target }: Pointing, { begins, ends }: PointerHint, shown: ShownBlocks): boolean {
  if (begins === undefined) return shown.isOnlyBearer(target, self)
  if (begins === '') return false
  if (ends === undefined) return !shown.hasRival(target, self, (bearer) => bearer.beginsWith(begins))
  if (!standsOnce(begins, target, shown) || !standsOnce(ends, target, shown)) return false
  return !shown.hasRival(target, self, (bearer) => {
    return !shown.maySearch(bearer) || (stands(begins, bearer) && stands(ends, bearer))
  })
}

function standsOnce(words: string, block: ShownBlock, shown: ShownBlocks): boolean {
  return words !== '' && shown.maySearch(block) && countWords(block.content, words) === 1
}

function stands(words: string, { content }: LabelBearer): boolean {
  return countWords(content, words) > 0
}
