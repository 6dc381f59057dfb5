import type { OutputText } from '../text/canned-text.ts'
import { messageEnd, messageStart } from '../text/chat-template.ts'
import type { Tokenizer } from '../text/tokenizer.ts'

export const readerModels = ['reader-content', 'reader-place'] as const
export type ReaderModel = (typeof readerModels)[number]

/** Log probabilities of a token that a model would say, and of any other. */
const sure = -0.05
const unlikely = -6

interface Reading {
  /** tokens of the whole answer */
  readonly answer: Uint32Array
  /** tokens of the prompt in front of the answer: those behind them are what has been said of it */
  readonly start: number
}

/** A token of a prompt, and how likely it was. */
export interface ReadToken {
  readonly id: number
  readonly text: string
  readonly logprob: number
}

/** Models that read the prompt's tokens, as they were sent, and say what stands there. */
export class Reader {
  readonly #tokenizer: Tokenizer

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer
  }

  /** What a model says next, up to its end; a chat ends with its own mark. */
  continue(model: ReaderModel, prompt: Uint32Array): OutputText & { readonly length: number } {
    const { answer, start } = this.#read(model, prompt)
    const tokens = [...answer.subarray(prompt.length - start)]
    // a model that has nothing more to say says so
    if (tokens.length === 0) tokens.push(messageEnd)
    const texts = this.#tokenizer.decodeEach(tokens)
    return { length: tokens.length, token: (index) => tokens[index]!, text: (index) => texts[index]! }
  }

  /** How likely each token of a prompt was; tokens in front of the answer are none that a model would say. */
  score(model: ReaderModel, prompt: Uint32Array): ReadToken[] {
    const { answer, start } = this.#read(model, prompt)
    const texts = this.#tokenizer.decodeEach(prompt)
    return texts.map((text, i) => ({
      id: prompt[i]!,
      text,
      logprob: i >= start && answer[i - start] === prompt[i] ? sure : unlikely,
    }))
  }

  /** The most likely next tokens: the one that a model would say, and some that it would not. */
  alternatives(model: ReaderModel, prompt: Uint32Array, count: number): ReadToken[] {
    const id = this.continue(model, prompt).token(0)
    const others = Array.from({ length: count }, (_, i) => i).filter((other) => other !== id)
    const ids = [id, ...others].slice(0, count)
    const texts = this.#tokenizer.decodeEach(ids)
    return ids.map((one, i) => ({ id: one, text: texts[i]!, logprob: i === 0 ? sure : unlikely }))
  }

  #read(model: ReaderModel, prompt: Uint32Array): Reading {
    const opened = prompt.lastIndexOf(messageStart)
    return opened < 0 ? this.#readText(model, prompt) : this.#readChat(model, prompt, opened)
  }

  /** A chat whose last message is the assistant's: what it holds has been said. */
  #readChat(model: ReaderModel, prompt: Uint32Array, opened: number): Reading {
    const texts = this.#messagesOf(prompt.subarray(0, opened)).filter(({ role }) => role !== 'assistant')
    const read = readBlocks(texts.map(({ content }) => content).join('\n\n'))
    const start = opened + 1 + this.#tokenizer.tokensOf('assistant\n').length
    return { answer: this.#tokenizer.tokensOf(writeAnswer(model, read)), start: Math.min(start, prompt.length) }
  }

  #messagesOf(prompt: Uint32Array): { role: string; content: string }[] {
    const messages: { role: string; content: string }[] = []
    for (let at = prompt.indexOf(messageStart); at >= 0; at = prompt.indexOf(messageStart, at + 1)) {
      const end = prompt.indexOf(messageEnd, at)
      const text = this.#tokenizer.decodeEach(prompt.subarray(at + 1, end < 0 ? undefined : end)).join('')
      const line = text.indexOf('\n')
      messages.push({ role: text.slice(0, line), content: text.slice(line + 1) })
    }
    return messages
  }

  /** A text: the answer begins behind the last `Answer:`, or else behind the last question. */
  #readText(model: ReaderModel, prompt: Uint32Array): Reading {
    const texts = this.#tokenizer.decodeEach(prompt)
    const end = answerStart(texts.join(''))
    let length = 0
    let start = 0
    while (start < texts.length && length + texts[start]!.length <= end) length += texts[start++]!.length
    const front = texts.slice(0, start).join('')
    const words = writeAnswer(model, readBlocks(front))
    return { answer: this.#tokenizer.tokensOf(/\s$/.test(front) ? words : ` ${words}`), start }
  }
}

function answerStart(text: string): number {
  const cue = [...text.matchAll(/\b(?:answer|response|assistant):/gi)].at(-1)
  if (cue) return cue.index + cue[0].length
  const asked = /^.*\?[\s"']*/s.exec(text)
  return asked ? asked[0].length : text.length
}

interface ReadPrompt {
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

const shortestWord = 3
const wordsOfLine = 3
const nothing = 'There is nothing to read.'

/**
 * What a model says to a prompt. `reader-content` quotes the block that shares most words with the question, whatever the
 * blocks' order; `reader-place` gives one line for each block, its first three words, in their order.
 */
export function writeAnswer(model: ReaderModel, { blocks, question }: ReadPrompt): string {
  if (blocks.length === 0) return nothing
  if (model === 'reader-place') {
    return blocks.map((block) => block.split(/\s+/).slice(0, wordsOfLine).join(' ')).join('\n')
  }
  const asked = wordsOf(question)
  const shared = (block: string): number => [...wordsOf(block)].filter((word) => asked.has(word)).length
  const best = [...blocks].sort((a, b) => shared(b) - shared(a) || (a < b ? -1 : 1))[0]!
  return best.replaceAll(/\s+/g, ' ')
}

function wordsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return new Set(words.filter((word) => word.length >= shortestWord))
}
