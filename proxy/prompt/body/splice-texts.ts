import type { Span } from '../../common/json/json-spans.ts'
import { mapOffsets } from './offset-map.ts'
import type { PromptText } from './prompt.ts'
import type { PromptBody } from './prompt-body.ts'
import type { BodySplice } from './splice-body.ts'
import { type Piece, piecesLength, piecesText, spliceText, type TextSplice } from './text-splice.ts'

/** The texts of a body as they are to be sent. */
interface WrittenTexts {
  /** by index, with explicit blocks inserted */
  readonly texts: readonly string[]
  /** by index: the changes to each text, in order and not overlapping */
  readonly splices: readonly (readonly TextSplice[])[]
}

/**
 * Returns splices that bring the texts in a body's JSON to the given state. Text that moves is cut out of the JSON as
 * the client wrote it, including escapes: escaping 240 KB again takes longer than finding them. Empty if nothing
 * changes.
 */
export function spliceTexts(prompt: PromptBody, { texts, splices }: WrittenTexts): BodySplice[] {
  const received = prompt.set?.texts ?? []
  const changed = [...received.keys()].filter((i) => texts[i] !== received[i]!.text || splices[i]!.length > 0)
  if (changed.length === 0) return []
  const edges = edgesByText(texts.length, splices)
  // explicit blocks are not in the text received
  const offsets = received.map((own, i) => (texts[i] === own.text ? toJsonOffsets(prompt, own, edges[i]!) : undefined))
  const write = (piece: Piece, isRaw = false): Span | string => {
    const locate = typeof piece === 'string' ? undefined : offsets[piece.text]
    if (typeof piece !== 'string' && locate) return { start: locate(piece.start), end: locate(piece.end) }
    const text = piecesText(texts, [piece])
    return isRaw ? text : JSON.stringify(text).slice(1, -1)
  }
  return changed.flatMap((place): BodySplice[] => {
    const [{ path, isRaw }, locate] = [received[place]!, offsets[place]]
    if (!locate) {
      const text = spliceText(texts, place, splices[place]!)
      return [{ pieces: [isRaw ? text : JSON.stringify(text)], ...prompt.findSpan(path) }]
    }
    return splices[place]!.map(({ start, end, pieces }) => ({
      start: locate(start),
      end: locate(end),
      pieces: pieces.map((piece) => write(piece, isRaw)),
    })).filter((splice) => !isAsReceived(prompt.json, splice))
  })
}

function isAsReceived(json: string, { start, end, pieces }: BodySplice): boolean {
  if (piecesLength(pieces) !== end - start) return false
  let at = start
  return pieces.every((piece) => {
    const written = typeof piece === 'string' ? piece : json.slice(piece.start, piece.end)
    at += written.length
    return json.startsWith(written, at - written.length)
  })
}

/** Returns the offsets where splices and pieces begin or end in each text. */
function edgesByText(count: number, splices: readonly (readonly TextSplice[])[]): number[][] {
  const edges = Array.from({ length: count }, (): number[] => [])
  splices.forEach((ofText, place) => {
    for (const { start, end, pieces } of ofText) {
      edges[place]!.push(start, end)
      for (const piece of pieces) if (typeof piece !== 'string') edges[piece.text]!.push(piece.start, piece.end)
    }
  })
  return edges
}

const BACKSLASH = '\\'
const LETTER_U = 0x75

/**
 * Maps offsets in a text to offsets in the JSON that it was read from. Only escapes make a difference, so the search
 * jumps from one to the next. Undefined if one falls between the two UTF-16 units of a character: half a character is
 * not valid JSON.
 */
function toJsonOffsets(
  { json, findSpan }: PromptBody,
  { text, path, isRaw }: PromptText,
  offsets: number[],
): ((offset: number) => number) | undefined {
  if (offsets.some((offset) => splitsCharacter(text, offset))) return undefined
  if (offsets.length === 0) return () => 0
  const start = findSpan(path).start + (isRaw ? 0 : 1)
  let at = start
  let next = isRaw ? -1 : json.indexOf(BACKSLASH, at)
  return mapOffsets(offsets, start, (from, to) => {
    const before = at
    let missing = to - from
    while (next >= 0 && next - at < missing) {
      missing -= next - at + 1
      at = next + (json.charCodeAt(next + 1) === LETTER_U ? 6 : 2)
      next = json.indexOf(BACKSLASH, at)
    }
    at += missing
    return at - before
  })
}

function splitsCharacter(text: string, offset: number): boolean {
  const [before, after] = [text.charCodeAt(offset - 1), text.charCodeAt(offset)]
  return (before & 0xfc00) === 0xd800 && (after & 0xfc00) === 0xdc00
}
