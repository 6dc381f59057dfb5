import type { ContextBlock, Turn } from './workload.ts'

/** A message of the OpenAI chat API. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

export const SYSTEM_MESSAGE: ChatMessage = {
  role: 'system',
  content:
    'You are the documentation assistant of a software team. Answer the question from the documents given with it, ' +
    'and name the documents you used. Show a short code example where it helps. ' +
    'If the documents do not hold the answer, say so instead of guessing.',
}

/** Formats the question with its documents: in tags, as many applications do, or separated by blank lines. */
export function toUserMessage({
  blocks,
  question,
  isPlain,
}: Pick<Turn, 'blocks' | 'question' | 'isPlain'>): ChatMessage {
  if (blocks.length === 0) return { role: 'user', content: `Question: ${question}` }
  if (isPlain) {
    const texts = blocks.map(({ text }) => text).join('\n\n')
    return { role: 'user', content: `Documents:\n\n${texts}\n\nQuestion: ${question}` }
  }
  const documents = blocks.map((block, at) => toDocument(block, at + 1)).join('\n')
  return { role: 'user', content: `<documents>\n${documents}\n</documents>\n\nQuestion: ${question}` }
}

/** Formats the question below its documents, separated only by blank lines, so that their boundaries are not marked. */
export function toUnmarkedMessage({ blocks, question }: Pick<Turn, 'blocks' | 'question'>): ChatMessage {
  return { role: 'user', content: [...blocks.map(({ text }) => text), `Question: ${question}`].join('\n\n') }
}

function toDocument(block: ContextBlock, index: number): string {
  return `<document index="${index}" ${toSource(block)}>\n${block.text}\n</document>`
}

function toSource({ id }: ContextBlock): string {
  return `source="${id.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"`
}

/** Returns the text specific to a block in a prompt: its own text, and its source if the prompt names it. */
export function toOwnText(block: ContextBlock, isPlain = false): string {
  return isPlain ? block.text : `${toSource(block)}${block.text}`
}
