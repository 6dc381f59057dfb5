import type { BlockSpan, ContextList } from '../context-list.ts'
import { readCue } from '../scan/find-cue-line.ts'
import { findContentEnd, findContentStart, findLineEnd } from '../scan/find-edges.ts'
import { isKin } from '../scan/find-elements.ts'
import { areWorded } from './are-worded.ts'
import { asksForNumber } from './asks-for-number.ts'
import type { Reason } from './reasons.ts'

// moving less text than this gains nothing, and with a number it may just as well be an option or a row
const SHORTEST_MATERIAL = 40
// elements of other markup hold paths and addresses, but no documents
const SHORTEST_FOREIGN = 200

const BARE = /^(?:#{1,6}[ \t]{1,3}|\*\*)?[[【]\d/
const MATERIAL =
  /(?:^|[^\p{L}])(?:documents?|sources?|passages?|contexts?|results?|chunks?|excerpts?|snippets?|articles?|information|material|knowledge|facts|memories|dokumente?|quellen?|kontext|文档|资料|上下文|来源)(?:$|[^\p{L}])/iu
const SELECTING =
  /(?:^|[.!?。:,\n][ \t"]{0,3}|\b(?:please|now|then|and|to) )(?:pick|choose|select|rank|sort|order|number|rearrange|reorder|arrange|match|vote|tick)(?= )/i
const CHOOSING =
  /\b(?:pick|choose|select|rank|sort|rearrange|reorder) (?:\p{L}+ ){0,4}(?:documents?|docs?|passages?|sources?|chunks?|results?|snippets?|excerpts?|articles?)\b/iu
const TALK =
  /^(?:\*\*)?(?:(?:user|assistant|bot|human|ai|system|agent|customer|client|operator|doctor|patient|interviewer|speaker(?: \w{1,3})?)|(\p{Lu}[\p{L}.' -]{0,30})):/iu
const OPENING_TAG = /<([A-Za-z][\w:.-]{0,63})(?:\s[^<>]{0,400})?>$/
const GENERIC_TAG = /^<(?:source|file|reference|result)[\s>]/i

const ASKED = /[?？]["'”’»)]?\s*$/
const CHOICE = /(?:^|[^\p{L}])(?:which|who|whom|whose)(?:$|[^\p{L}])/iu

const LONGEST_HEADING = 200

/**
 * Returns why a list only looks like a list of documents, if so: options to choose from, a dialogue line by line, table
 * rows, other markup. The order of such a list may carry its meaning, and reordering it would gain little.
 */
export function findLookalike(text: string, list: ContextList, isWhole: boolean): Reason | undefined {
  const first = list.blocks[0]!
  if (GENERIC_TAG.test(text.slice(first.start, first.start + 16))) return isMarkup(text, list) ? 'markup' : undefined
  if (!list.positional) return undefined
  const heading = headingOf(text, first.start)
  const behind = lineBehind(text, list.end)
  if (!BARE.test(text.slice(first.start, first.start + 12))) {
    return isChosenByNumber(heading, behind.words) ? 'directions' : undefined
  }
  if (isToBeChosen(heading, behind)) return 'directions'
  if (isTalk(text, list.blocks)) return 'talk'
  return !isWhole && areShorter(list.blocks, SHORTEST_MATERIAL) && areShort(text, list, heading, behind)
    ? 'directions'
    : undefined
}

/** Returns whether short blocks are options or rows. */
function areShort(
  text: string,
  list: ContextList,
  heading: string,
  behind: { readonly start: number; readonly words: string },
): boolean {
  const container = OPENING_TAG.exec(heading)
  const isAnnounced = MATERIAL.test(heading) || (container !== null && isKin(container[1]!.toLowerCase()))
  if (isAnnounced || readCue(text, behind.start)?.question === true) return false
  if (/[:：]$/.test(heading) || CHOICE.test(behind.words) || !areWorded(text, list.blocks)) return true
  return !ASKED.test(behind.words) && !areSentences(text, list.blocks)
}

function areShorter(blocks: readonly BlockSpan[], length: number): boolean {
  return blocks.every(({ contentStart, contentEnd }) => contentEnd - contentStart < length)
}

function areSentences(text: string, blocks: readonly BlockSpan[]): boolean {
  return blocks.every(({ contentEnd }) => /[.!?。！？]["'”’»)]?$/.test(text.slice(contentEnd - 2, contentEnd)))
}

/** Returns the line before a list. */
function headingOf(text: string, start: number): string {
  const end = findContentEnd(text, Math.max(start - LONGEST_HEADING, 0), start)
  const line = text.slice(Math.max(end - LONGEST_HEADING, 0), end)
  return line.slice(line.lastIndexOf('\n') + 1)
}

function lineBehind(text: string, end: number): { start: number; words: string } {
  const at = findContentStart(text, end, text.length)
  const start = text.lastIndexOf('\n', at - 1) + 1
  return { start: Math.max(start, end), words: text.slice(at, Math.min(findLineEnd(text, at), at + LONGEST_HEADING)) }
}

/** Returns whether the answer must name its choice by number. Such a number looks like any other number. */
function isChosenByNumber(...lines: readonly string[]): boolean {
  return lines.some((line) => asksForNumber(line) || CHOOSING.test(line))
}

function isToBeChosen(heading: string, { words }: { words: string }): boolean {
  return (
    SELECTING.test(heading) ||
    (SELECTING.test(words) && !ASKED.test(words)) ||
    asksForNumber(heading) ||
    asksForNumber(words)
  )
}

/** Returns whether each block begins with its speaker: a role, or a name that recurs. */
function isTalk(text: string, blocks: readonly BlockSpan[]): boolean {
  const names: (string | undefined)[] = []
  for (const { contentStart } of blocks) {
    const match = TALK.exec(text.slice(contentStart, contentStart + 64))
    if (match === null) return false
    names.push(match[1])
  }
  const different = new Set(names).size
  return names.every((name) => name === undefined) || (different > 1 && different < names.length)
}

function isMarkup(text: string, { blocks, end }: ContextList): boolean {
  const tag = OPENING_TAG.exec(headingOf(text, blocks[0]!.start))?.[1]
  const isForeign = tag !== undefined && !isKin(tag.toLowerCase())
  if (!areShorter(blocks, isForeign ? SHORTEST_FOREIGN : SHORTEST_MATERIAL)) return false
  if (isForeign) return true
  // short elements with labels are labelled on purpose, and those with words are not paths
  if (blocks.every(({ label }) => label !== undefined) || areWorded(text, blocks)) return false
  return readCue(text, lineBehind(text, end).start)?.question !== true
}
