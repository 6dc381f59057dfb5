/** How many characters of a block a pointer quotes; more where fewer do not tell it from others. */
export const hintLengths: readonly number[] = [40, 80, 160]

/** Words quoted from a block, whose spaces and line breaks count as one space each. */
export interface HintWords {
  readonly words: string
  /** the block goes on */
  readonly isCut: boolean
}

/** The first words of a content, of so many characters at most; cut between words where it has any. */
export function firstWords(content: string, most: number): HintWords {
  const text = content.trimStart()
  const head = text.slice(0, 4 * most)
  const words = joinWords(head)
  if (words.length <= most && head.length === text.length) return { words, isCut: false }
  // half a character is none
  const cut = words
    .slice(0, most)
    .replace(/\s\S*$/, '')
    .replace(/[\ud800-\udbff]$/, '')
  return { words: cut, isCut: true }
}

/** The last words of a content, of so many characters at most. */
export function lastWords(content: string, most: number): HintWords {
  const text = content.trimEnd()
  const tail = text.slice(-4 * most)
  const words = joinWords(tail)
  if (words.length <= most && tail.length === text.length) return { words, isCut: false }
  const cut = words
    .slice(-most)
    .replace(/^\S*\s/, '')
    .replace(/^[\udc00-\udfff]/, '')
  return { words: cut, isCut: true }
}

/** What a content begins with, as far as pointers quote it, its spaces joined. */
export function headOf(content: string): string {
  const longest = hintLengths.at(-1)!
  const words = joinWords(content.slice(0, 4 * longest))
  // hardly anything is mostly space
  return words.length < longest && content.length > 4 * longest ? joinWords(content) : words
}

/** How often words occur in a content; counts to two. */
export function countWords(content: string, words: string): number {
  const pattern = new RegExp(patternOf(words), 'g')
  const first = pattern.exec(content)
  if (!first) return 0
  pattern.lastIndex = first.index + 1
  return pattern.test(content) ? 2 : 1
}

function joinWords(text: string): string {
  return text.trim().replace(/\s+/g, ' ')
}

function patternOf(words: string): string {
  return words
    .split(' ')
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
    .join('\\s+')
}
