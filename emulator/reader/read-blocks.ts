/** A prompt as the readers understand it. */
export interface ReadPrompt {
  /** texts of the prompt, in its order and without labels; their head and the question are none */
  readonly blocks: readonly string[]
  readonly question: string
}

// a number, a bullet or an opening tag in front of a block, and where a tag ends one
const label =
  /^[ \t]*(?:\[\d+\]|\(\d+\)|\d+[.)]|(?:document|source|passage|text)[ \t]+\d+[:.]?|[-*•]|<[a-z][^<>]*>)[ \t]*/i
const closing = /<\/[a-z][^<>]*>/gi

/**
 * Reads a prompt: its last paragraph is the question. If paragraphs or lines of the others begin with labels, these are the
 * blocks; otherwise all paragraphs are, but those that end in a colon.
 */
export function readBlocks(text: string): ReadPrompt {
  const paragraphs = paragraphsOf(text)
  const question = paragraphs.pop() ?? ''
  const labelled = paragraphs.filter((paragraph) => label.test(paragraph))
  const found = labelled.length > 0 ? labelled : paragraphs.filter((paragraph) => !paragraph.endsWith(':'))
  const blocks = found.map(withoutLabels).filter((block) => block !== '')
  return { blocks, question: withoutLabels(question) }
}

function paragraphsOf(text: string): string[] {
  const lines = text.replaceAll(closing, '\n\n').split('\n')
  const separated = lines.map((line) => (label.test(line) ? `\n${line}` : line)).join('\n')
  const paragraphs = separated.split(/\n\s*\n/).map((paragraph) => paragraph.trim())
  return paragraphs.filter((paragraph) => paragraph !== '')
}

/** Drops all labels in a row: a tag may be followed by a number. */
function withoutLabels(text: string): string {
  const rest = text.replace(label, '')
  return rest === text ? text : withoutLabels(rest.trim())
}
