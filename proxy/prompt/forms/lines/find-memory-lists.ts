import type { BlockSpan, ContextList } from '../../context-list.ts'
import { readCue } from '../../scan/find-cue-line.ts'
import { findContentEnd, findContentStart, findIndexFrom, findLineEnd } from '../../scan/find-edges.ts'
import { findOwn, type Region } from '../../scan/find-elements.ts'
import { FenceWalk } from '../../scan/find-fences.ts'
import type { Marks } from '../../scan/find-marks.ts'
import { isRunning } from '../../scan/labels/label.ts'

const OF_USER =
  "(?:for|about|of|on|regarding|from) (?:(?:the|this|your|our|my|all)? ?(?:current )?(?:user|users|human|person|customer|speaker|assistant|me|us|you|previous|past|prior|earlier)(?:['’]s)?(?!\\p{L}))"
// what memory layers write above a user's memories; the title of a poem may also mention memories
const MEMORIES = new RegExp(
  [
    `(?<!\\p{L})memories(?! (?:for|about|of|on|regarding|from|in|with|and|to|at) )`,
    `(?<!\\p{L})memories ${OF_USER}`,
    '(?<!\\p{L})memories for [^\\s:]{1,64}[:：]?(?:\\*\\*)?$',
    '(?<!\\p{L})(?:(?:user|long[- ]?term|relevant|saved|stored|retrieved|past|core) memory|memory neighborhood|user context|relevant (?:facts|context)|(?:known )?facts (?:about|known)|known facts|what (?:i|we|you) (?:know|remember) about|previous (?:conversations?|interactions?)|erinnerungen)(?!\\p{L})',
    '记忆|記憶|기억',
  ].join('|'),
  'iu',
)
// instructions and guides mention memories too: functions, paths and what to do
const DIRECTIONS =
  /\b(?:rules?|how|when|should|must|guidelines?|instructions?|steps?|formats?|types?|kinds?|tools?|operations?|save|store|manage|update|examples?|e\.g\.|do not|don't|avoid)\b|[`(){}]|\/\w|\w[_.]\w|\b(?:call|flag|where|with|if|create|delete|search|get|list|show|limited|management|routes?|api)\b/i
const LONGEST_HEADING = 120

/** Finds the memories of a region: bullets or numbers, one line each, below a line that announces memories. */
export function findMemoryLists(marks: Marks, region: Region): ContextList[] {
  const bullets = findOwn(marks.bullets, region)
  // most bullets have no such line before them and need not be read as lists
  if (bullets.length < 2 || !bullets.some(({ start }) => isAnnounced(marks, region, start))) return []
  const fences = new FenceWalk(findOwn(marks.fences, region), region.start)
  const lists: ContextList[] = []
  let at = region.start
  for (const { start: line } of bullets) {
    if (line < at) continue
    at = fences.pass(at, line, region.end)
    const bullet = at > line ? undefined : readBullet(marks.text, line)
    if (bullet === undefined) continue
    const { items, end } = readRun(marks.text, line, bullet, findLimit(region, line))
    at = Math.max(end, line + 1)
    const isList =
      items.length > 1 &&
      isAnnounced(marks, region, line) &&
      areFacts(marks.text, items) &&
      endsHere(marks.text, end, region.end)
    if (isList) lists.push(toList(marks.text, items, end))
  }
  return lists
}

function findLimit({ end, elements }: Region, from: number): number {
  return Math.min(end, elements[findIndexFrom(elements, from)]?.start ?? end)
}

interface Run {
  readonly items: readonly BlockSpan[]
  readonly end: number
}

/** Reads consecutive bullets like the first one, with the lines indented below them. */
function readRun(text: string, first: number, { form, indent }: Bullet, limit: number): Run {
  const items: BlockSpan[] = []
  let end = first
  let isBehindBlank = false
  for (let line = first; line < limit; line = findLineEnd(text, line) + 1) {
    const lineEnd = Math.min(findLineEnd(text, line), limit)
    const content = findContentStart(text, line, lineEnd)
    if (content === lineEnd) {
      isBehindBlank = true
      continue
    }
    const bullet = readBullet(text, line)
    const previous = items.at(-1)
    if (bullet?.form === form && !isBehindBlank) {
      end = findContentEnd(text, line, lineEnd)
      const label = bullet.label && { label: bullet.label }
      items.push({ start: content, end, contentStart: bullet.end, contentEnd: end, ...label })
    } else if (previous !== undefined && !isBehindBlank && content - line > indent) {
      end = findContentEnd(text, line, lineEnd)
      items[items.length - 1] = { ...previous, end, contentEnd: end }
    } else break
  }
  return { items, end }
}

function isAnnounced({ text, tags }: Marks, region: Region, line: number): boolean {
  const end = findContentEnd(text, region.start, line)
  if (end === region.start) {
    const container = region.container ? tags[findIndexFrom(tags, region.start) - 1] : undefined
    return container !== undefined && /(?:^|[_-])(?:memories|facts)(?:[_-]from[_-].*)?$/.test(container.name)
  }
  return isHeading(text, region, end)
}

/** Returns whether the line that ends here is a heading for memories. */
function isHeading(text: string, region: Region, end: number): boolean {
  const start = text.lastIndexOf('\n', end - 1) + 1
  if (end - start > LONGEST_HEADING || !mayBeHeading(text, Math.max(start, region.start), end)) return false
  const heading = text.slice(Math.max(start, region.start), end).trim()
  return /^(?:#{1,6}\s|\*\*.*\*\*$|\[.*\]$|<[^<>]*>$)|[:：](?:\*\*)?$/.test(heading) && isOfMemories(heading)
}

/** Returns whether a line, given from its first to its last character, begins or ends like a heading. */
function mayBeHeading(text: string, start: number, end: number): boolean {
  return ':：*]>'.includes(text[end - 1]!) || text[findContentStart(text, start, end)] === '#'
}

// the beginning of a guide's line, or an instruction to its reader
const GUIDING =
  /^(?:[`{<]|\*\*|\[[ x]\]|(?:always|never|do not|don't|only|use|call|check|run|read|write|avoid|must|should|return)\b)|\b(?:you (?:must|should)|must|never)\b|[:：]$/i

/**
 * Returns whether most of these items state facts about somebody, and do not begin like a guide's line of code or bold
 * name.
 */
function areFacts(text: string, items: readonly BlockSpan[]): boolean {
  const facts = items.map(({ contentStart, contentEnd }) => text.slice(contentStart, contentEnd))
  return facts.filter((fact) => GUIDING.test(fact)).length * 3 < facts.length
}

function isOfMemories(heading: string): boolean {
  const words = heading.replaceAll('_', ' ')
  return MEMORIES.test(words) && !DIRECTIONS.test(heading.startsWith('<') ? words : heading)
}

/** Returns whether the last bullet certainly ends here. A line below it may belong to it. */
function endsHere(text: string, end: number, limit: number): boolean {
  const line = findLineEnd(text, end) + 1
  if (line >= limit) return true
  const start = findContentStart(text, line, findLineEnd(text, line))
  if (start >= Math.min(limit, findLineEnd(text, line))) return true
  return text[start] === '<' || text[start] === '#' || readCue(text, line)?.question === true
}

function toList(text: string, items: readonly BlockSpan[], end: number): ContextList {
  const positional = isRunning(items.map(({ label }) => label && text.slice(label.start, label.end)))
  // numbers that do not count up from the first are the writer's own, so we must not refer to them
  const blocks = positional ? items : items.map(({ label: _, ...item }) => item)
  return { blocks, positional, labelPrefix: '', form: 'memories', weight: 'strong', end }
}

const BULLET = /([ \t]{0,3})([-*•+]|\d{1,4}[.)])[ \t]{1,4}(?=\S)/y

/** The beginning of a list item. */
interface Bullet {
  /** Where its text begins. */
  readonly end: number
  /** Its kind and indentation, equal for all bullets of one list. */
  readonly form: string
  readonly indent: number
  /** The digits of a number. */
  readonly label: { readonly start: number; readonly end: number } | undefined
}

/** Reads the bullet of the line that begins at `line`. Returns undefined if there is none. */
function readBullet(text: string, line: number): Bullet | undefined {
  BULLET.lastIndex = line
  const match = BULLET.exec(text)
  if (match === null) return undefined
  const indent = match[1]!.length
  const sign = match[2]!
  const isNumber = sign.length > 1
  const start = line + indent
  const label = isNumber ? { start, end: start + sign.length - 1 } : undefined
  return { end: line + match[0].length, form: `${indent}${isNumber ? sign.at(-1) : sign}`, indent, label }
}
