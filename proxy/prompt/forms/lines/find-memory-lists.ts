import { type BlockSpan, type ContextList, toList } from '../../context-list.ts'
import { readCue } from '../../scan/find-cue-line.ts'
import { findContentEnd, findContentStart, findIndexFrom, findLineEnd, matchAt } from '../../scan/find-edges.ts'
import { findOwn, type Region, readOutsideFences } from '../../scan/find-elements.ts'
import type { Marks } from '../../scan/find-marks.ts'

const OF_USER =
  "(?:for|about|of|on|regarding|from) (?:(?:the|this|your|our|my|all)? ?(?:current )?(?:user|users|human|person|customer|speaker|assistant|me|us|you|previous|past|prior|earlier)(?:['’]s)?(?!\\p{L}))"
// what memory layers write above a user's memories; the title of a poem may also mention memories
const MEMORIES = new RegExp(
  [
    `(?<!\\p{L})memories(?! (?:for|about|of|on|regarding|from|in|with|and|to|at) )`,
    `(?<!\\p{L})memories ${OF_USER}`,
    '(?<!\\p{L})memories for [^\\s:]{1,64}[:：]?(?:\\*\\*)?$',
    '(?<!\\p{L})(?:(?:user|long[- ]?term|relevant|saved|stored|retrieved|past|core) memory|memory neighborhood|user context|relevant (?:facts|context)|(?:known )?facts (?:about|known)|known facts|what (?:i|we|you) (?:know|remember) about|previous (?:conversations?|interactions?)|erinnerungen)(?!\\p{L})',
    // names of containers
    '^<(?:.*[ -])?(?:memories|facts)(?:[ -]from[ -].*)?>$',
    '记忆|記憶|기억',
  ].join('|'),
  'iu',
)
// instructions and guides mention memories too: functions, paths and what to do
const DIRECTIONS =
  /\b(?:rules?|how|when|should|must|guidelines?|instructions?|steps?|formats?|types?|kinds?|tools?|operations?|save|store|manage|update|examples?|e\.g\.|do not|don't|avoid)\b|[`(){}]|\/\w|\w[_.]\w|\b(?:call|flag|where|with|if|create|delete|search|get|list|show|limited|management|routes?|api)\b/i
const LONGEST_HEADING = 120

// the beginning of a guide's line, or an instruction to its reader
const GUIDING =
  /^(?:[`{<]|\*\*|\[[ x]\]|(?:always|never|do not|don't|only|use|call|check|run|read|write|avoid|must|should|return)\b)|\b(?:you (?:must|should)|must|never)\b|[:：]$/i
const BULLET = /([ \t]{0,3})([-*•+]|\d{1,4}[.)])[ \t]{1,4}(?=\S)/y

/** Finds the memories of a region: bullets or numbers, one line each, below a line that announces memories. */
export function findMemoryLists(marks: Marks, region: Region): ContextList[] {
  const { text } = marks
  const bullets = findOwn(marks.bullets, region)
  // most bullets have no such line before them and need not be read as lists
  if (bullets.length < 2 || !bullets.some(({ start }) => isAnnounced(marks, region, start))) return []
  const lists: ContextList[] = []
  readOutsideFences(marks, region, bullets, ({ start: line }) => {
    const items = readItems(text, line, region.elements[findIndexFrom(region.elements, line)]?.start ?? region.end)
    const end = items.at(-1)?.end ?? line
    const isList =
      items.length > 1 && isAnnounced(marks, region, line) && areFacts(text, items) && endsHere(text, end, region.end)
    if (isList) lists.push(toMemoryList(text, items))
    return Math.max(end, line + 1)
  })
  return lists
}

/** Reads consecutive bullets like the one in the line at `first`, with the lines indented below them. */
function readItems(text: string, first: number, limit: number): readonly BlockSpan[] {
  const items: BlockSpan[] = []
  let shape: string | undefined
  for (let line = first; line < limit; line = findLineEnd(text, line) + 1) {
    const lineEnd = Math.min(findLineEnd(text, line), limit)
    const start = findContentStart(text, line, lineEnd)
    if (start === lineEnd) return items
    const end = findContentEnd(text, line, lineEnd)
    const [whole = '', indent = '', sign = ''] = matchAt(BULLET, text, line) ?? []
    // what all bullets of one list have in common: their indentation and their sign
    const own = indent + sign.slice(-1)
    shape ??= own
    const previous = items.at(-1)
    if (sign !== '' && own === shape) {
      const label = sign.length > 1 ? { label: { start, end: start + sign.length - 1 } } : undefined
      items.push({ start, end, contentStart: line + whole.length, contentEnd: end, ...label })
    } else if (previous !== undefined && start - line > shape.length - shape.trimStart().length) {
      items[items.length - 1] = { ...previous, end, contentEnd: end }
    } else return items
  }
  return items
}

function isAnnounced({ text, tags }: Marks, region: Region, line: number): boolean {
  const end = findContentEnd(text, region.start, line)
  const container = region.container && end === region.start ? tags[findIndexFrom(tags, end) - 1] : undefined
  const start = text.lastIndexOf('\n', end - 1) + 1
  if (container === undefined && end - start > LONGEST_HEADING) return false
  const heading = container ? `<${container.name}>` : text.slice(Math.max(start, region.start), end).trim()
  if (!/^(?:#{1,6}\s|\*\*.*\*\*$|\[.*\]$|<[^<>]*>$)|[:：](?:\*\*)?$/.test(heading)) return false
  const words = heading.replaceAll('_', ' ')
  return MEMORIES.test(words) && !DIRECTIONS.test(heading.startsWith('<') ? words : heading)
}

/**
 * Returns whether most of these items state facts about somebody, and do not begin like a guide's line of code or bold
 * name.
 */
function areFacts(text: string, items: readonly BlockSpan[]): boolean {
  const guiding = items.filter(({ contentStart, contentEnd }) => GUIDING.test(text.slice(contentStart, contentEnd)))
  return guiding.length * 3 < items.length
}

/** Returns whether the last bullet certainly ends here. A line below it may belong to it. */
function endsHere(text: string, end: number, limit: number): boolean {
  const line = findLineEnd(text, end) + 1
  const lineEnd = Math.min(limit, findLineEnd(text, line))
  const start = findContentStart(text, line, lineEnd)
  return line >= limit || start >= lineEnd || '<#'.includes(text[start]!) || readCue(text, line)?.question === true
}

function toMemoryList(text: string, items: readonly BlockSpan[]): ContextList {
  const list = toList(text, items, 'memories', 'strong')
  // numbers that do not count up from the first are the writer's own, so we must not refer to them
  return list.positional ? list : { ...list, blocks: items.map(({ label: _, ...item }) => item) }
}
