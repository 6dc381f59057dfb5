import { annotateLocation } from './annotate-context.ts'
import { countWords, firstWords, type HintWords, hintLengths, lastWords } from './hint-words.ts'
import type { LabelBearer } from './label-bearers.ts'
import type { ShownBlock, ShownBlocks } from './shown-blocks.ts'

/** What a pointer says besides a label, so that it can be taken for one stretch only. */
export interface PointerHint {
  /** words the target, or the part of it, begins with; undefined where the label says enough */
  readonly begins: string | undefined
  /** words the part ends with; undefined for a whole block */
  readonly ends: string | undefined
}

/** The words of a pointer, and the hint in them. */
export interface PointerWords {
  readonly text: string
  readonly hint: PointerHint
}

/** Who points to what. */
export interface Pointing {
  readonly self: LabelBearer
  readonly target: ShownBlock
}

const bare: PointerHint = { begins: undefined, ends: undefined }

/** Words that can only mean the target; undefined when there are none, or only very long ones. */
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

/** Words that can only mean a part of the target, which is made of whole lines. */
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
      // the part is made of whole lines, and so is what takes its place
      return { text: `${location} ${words}${part.endsWith('\n') ? '\n' : ''}`, hint }
    }
  }
  return undefined
}

/** Words from one end of a part that stand only once in the target, of so many characters or more. */
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

/** Whether the words of a pointer can be taken for one stretch of the prompt only. */
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
