import type { BlockSpan, ContextList } from '../../context-list.ts'
import type { Refusal } from '../../judge/reasons.ts'
import { findContentEnd, findContentStart } from '../../scan/find-edges.ts'
import type { Region } from '../../scan/find-elements.ts'
import { FenceWalk } from '../../scan/find-fences.ts'
import type { Marks } from '../../scan/find-marks.ts'
import type { Opening } from '../../scan/find-openings.ts'
import { isRunning } from '../../scan/labels/label.ts'
import { isWeakLabel } from '../../scan/words/read-noun.ts'
import { findOwn } from '../find-own.ts'

/** Lists of blocks with their own closing marks, and similar text that is left alone. */
interface ClosedLists {
  readonly lists: readonly ContextList[]
  readonly refusals: readonly Refusal[]
}

/** A block between its opening and closing marks. */
interface Closed {
  readonly opening: Opening
  /** Where its closing mark begins. */
  readonly close: number
  readonly end: number
}

/**
 * Finds lists whose blocks are each between an opening and a closing mark, such as `[webpage 1 begin]…[webpage 1 end]`.
 * A row is refused if there are words between blocks or a closing mark inside a block, because then it is unclear which
 * mark closes it.
 */
export function findClosedLists(marks: Marks, region: Region): ClosedLists {
  const openings = findOwn(marks.openings, region)
  const lists: ContextList[] = []
  const refusals: Refusal[] = []
  const fences = new FenceWalk(findOwn(marks.fences, region), region.start)
  let at = region.start
  for (const [i, opening] of openings.entries()) {
    if (opening.start < at) continue
    at = fences.pass(at, opening.start, region.end)
    if (at > opening.start) continue
    const own = openings.slice(i).filter(({ form }) => form === opening.form)
    if (own.length < 2) continue
    const row = readRow(marks.text, own, region.end)
    if (row === undefined) {
      refusals.push({ refused: 'open_end', at: { start: opening.start, end: region.end } })
      return { lists, refusals }
    }
    const list = toList(marks.text, row, region)
    lists.push(list)
    at = list.end
  }
  return { lists, refusals }
}

/**
 * Returns the blocks of these openings. Undefined unless they directly follow one another and each is closed exactly
 * once.
 */
function readRow(text: string, openings: readonly Opening[], limit: number): Closed[] | undefined {
  const row: Closed[] = []
  for (const [i, opening] of openings.entries()) {
    const next = openings[i + 1]?.start
    const close = text.indexOf(opening.closing, opening.end)
    const end = close + opening.closing.length
    if (close < 0 || end > (next ?? limit)) return undefined
    if (next !== undefined && findContentStart(text, end, next) < next) return undefined
    const again = next === undefined ? text.indexOf(opening.closing, end) : -1
    if (again >= 0 && again < limit) return undefined
    row.push({ opening, close, end })
  }
  return row
}

function toList(text: string, row: readonly Closed[], region: Region): ContextList {
  const ids = row.map(({ opening: { label } }) => label && text.slice(label.start, label.end))
  const positional = isRunning(ids)
  const [{ opening: first }] = row as [Closed]
  return {
    blocks: row.map((closed) => toBlock(text, closed, positional)),
    positional,
    labelPrefix: first.prefix,
    end: row.at(-1)!.end,
    form: 'closed',
    weight: isWeakLabel(first.prefix.replace(/[ _.:#-]+$/, '')) ? 'weak' : 'strong',
    inContainer: region.isKin && findContentStart(text, region.start, region.end) === first.start,
  }
}

/** A running number belongs to the position, and so does a closing mark that repeats it. */
function toBlock(text: string, { opening, close, end }: Closed, positional: boolean): BlockSpan {
  const { start, label, isTwice } = opening
  const contentStart = findContentStart(text, opening.end, close)
  const contentEnd = findContentEnd(text, contentStart, close)
  const span = { start, end: positional && isTwice ? contentEnd : end, contentStart, contentEnd }
  return label === undefined || (isTwice && !positional) ? span : { label, ...span }
}
