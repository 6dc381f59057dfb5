import type { Sample, Sources } from './samples.ts'

/** One kind of prompt: its words, its lists, and whether the order of a list means anything to who reads it. */
export interface Task {
  readonly name: string
  readonly order: 'free' | 'bound'
  /** label of the text at a place; labels count up in any order of the texts */
  readonly label: (place: number) => string
  readonly instruction: (question: string) => string
  readonly answerTokens: number
  readonly samples: readonly Sample[]
  /** what the right answer to a list is; shows a small model by an example what is asked */
  readonly example?: (texts: readonly string[], question: string) => string
}

const none = (): string => ''
const numbered = (place: number): string => `[${place}] `
const ask = (question: string): string => `Use the documents above to answer this question: ${question}`
const firstWords = (text: string): string => text.split(/\s+/).slice(0, 3).join(' ')

/** All kinds of prompts. */
export function createTasks({ passages, documentation, code, notes, codes }: Sources): Task[] {
  const free = { order: 'free', label: none, answerTokens: 48 } as const
  const bound = { order: 'bound', label: none, answerTokens: 48 } as const
  const cited = (question: string): string =>
    `${ask(question)} Cite the number of each document that you use, like [2].`
  return [
    { ...free, name: 'questions', instruction: ask, samples: passages },
    { ...free, name: 'questions, numbered and cited', label: numbered, instruction: cited, samples: passages },
    { ...free, name: 'questions about documentation', instruction: ask, samples: documentation },
    { ...free, name: 'questions about code', instruction: ask, samples: code },
    {
      ...free,
      name: 'which document, numbered',
      label: numbered,
      instruction: (question) => `Which document answers this question, and why? ${question}`,
      samples: passages,
    },
    {
      ...free,
      name: 'look-ups',
      instruction: (question) => question,
      example: (texts, question) => texts.find((text) => text.includes(question.slice(0, -1).split(' ').at(-1)!))!,
      samples: codes,
    },
    {
      ...bound,
      name: 'all lines in their order',
      instruction: () => 'Repeat all lines above, in their order.',
      example: (texts) => texts.join('\n'),
      answerTokens: 80,
      samples: codes,
    },
    {
      ...bound,
      name: 'the first line',
      instruction: () => 'Repeat the first line above.',
      example: (texts) => texts[0]!,
      samples: codes,
    },
    {
      ...bound,
      name: 'first words of each',
      instruction: () => 'Write one line for each document above, in their order: its first three words.',
      example: (texts) => texts.map(firstWords).join('\n'),
      samples: passages,
    },
    {
      ...bound,
      name: 'first sentence of each',
      instruction: () => 'Write the first sentence of each document above, in their order.',
      example: (texts) => texts.map((text) => text.split('. ')[0]).join('.\n'),
      answerTokens: 64,
      samples: passages,
    },
    {
      ...bound,
      name: 'the first document',
      instruction: () => 'Repeat the first document above.',
      example: (texts) => texts[0]!,
      samples: passages,
    },
    {
      ...bound,
      name: 'newest first',
      instruction: (question) => `The notes above are sorted, the newest first. ${question}`,
      example: (texts) => texts[0]!,
      samples: notes,
    },
    {
      ...bound,
      name: 'newest first, not said',
      instruction: (question) => question,
      example: (texts) => texts[0]!,
      samples: notes,
    },
  ]
}
