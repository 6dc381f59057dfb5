/** How many characters of a block a pointer quotes. Longer quotes are tried if shorter ones are ambiguous. */
export const hintLengths: readonly number[] = [40, 80, 160]

/** Words quoted from a block, with each run of white space replaced by one space. */
export interface HintWords {
  readonly words: string
  /** whether the block continues after the words */
  readonly isCut: boolean
}

/** Returns the first words of a content, at most `most` characters, cut between words if possible. */
export function firstWords(content: string, most: number): HintWords {
  const text = content.trimStart()
  const head = text.slice(0, 4 * most)
  const words = joinWords(head)
  if (words.length <= most && head.length === text.length) return { words, isCut: false }
  // do not end within a surrogate pair
  const cut = words
    .slice(0, most)
    .replace(/\s\S*$/, '')
    .replace(/[\ud800-\udbff]$/, '')
  return { words: cut, isCut: true }
}

/** Returns the last words of a content, at most `most` characters. */
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

/** Returns the beginning of a content, at least as long as pointers can quote, with white space joined. */
export function headOf(content: string): string {
  const longest = hintLengths.at(-1)!
  const words = joinWords(content.slice(0, 4 * longest))
  // only a content that is mostly white space has to be read as a whole
  return words.length < longest && content.length > 4 * longest ? joinWords(content) : words
}

/** Counts how often the words occur in a content, up to two. */
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
