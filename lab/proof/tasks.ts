import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** What one prompt asks about one list of texts. */
interface Sample {
  readonly texts: readonly string[]
  readonly question: string
}

/** One kind of prompt: its words, its lists, and whether the order of a list means anything to who reads it. */
export interface Task {
  readonly name: string
  readonly order: 'free' | 'bound'
  /** label of the text at a place; labels count up in any order of the texts */
  readonly label: (place: number) => string
  readonly instruction: (question: string) => string
  readonly answerTokens: number
  readonly samples: readonly Sample[]
}

const textCharacters = 320
const none = (): string => ''
const numbered = (place: number): string => `[${place}] `

/** All kinds of prompts that the traces of a folder allow, with so many samples each. */
export function createTasks(data: string, count: number): Task[] {
  const hotpot = readTrace(join(data, 'rag_hotpot'), count, 5)
  const documentation = readTrace(join(data, 'rag_cookbook_docs'), count, 4)
  const code = readTrace(join(data, 'rag_cookbook_code'), count, 6)
  const free = { order: 'free', label: none, answerTokens: 48 } as const
  const bound = { order: 'bound', label: none, answerTokens: 64 } as const
  const ask = (question: string): string => `Use the documents above to answer this question: ${question}`
  return [
    { ...free, name: 'questions', instruction: ask, samples: hotpot },
    {
      ...free,
      name: 'questions, numbered, citations',
      label: numbered,
      instruction: (question) => `${ask(question)} Cite the number of each document that you use, like [2].`,
      samples: hotpot,
    },
    { ...free, name: 'questions about documentation', instruction: ask, samples: documentation },
    { ...free, name: 'questions about code', instruction: ask, samples: code },
    {
      ...free,
      name: 'which document, numbered',
      label: numbered,
      instruction: (question) => `Which document answers this question? ${question} Say its number and why.`,
      samples: hotpot,
    },
    {
      ...bound,
      name: 'first words',
      instruction: () => 'Write one line for each document above, in their order: its first three words.',
      samples: hotpot,
    },
    {
      ...bound,
      name: 'keywords',
      instruction: () => 'Write one line for each document above, in their order: one keyword.',
      samples: documentation,
    },
    {
      ...bound,
      name: 'titles by relevance',
      instruction: (question) =>
        `List the titles of the documents above, one a line, the most relevant first, for this question: ${question}`,
      samples: hotpot,
    },
    {
      ...bound,
      name: 'summaries',
      instruction: () => 'Summarise each document above in one sentence, one a line.',
      samples: hotpot,
    },
    { ...bound, name: 'the first document', instruction: () => 'What is the first document about?', samples: hotpot },
    {
      ...bound,
      name: 'newest first, the latest',
      instruction: (question) => `These notes are sorted, the newest first. ${question}`,
      samples: createUpdates(count),
    },
    {
      ...bound,
      name: 'newest first, not said',
      instruction: (question) => question,
      samples: createUpdates(count),
    },
  ]
}

interface Query {
  readonly query: string
  readonly blocks: readonly string[]
}

function readTrace(folder: string, count: number, texts: number): Sample[] {
  const read = (file: string): unknown[] =>
    gunzipSync(readFileSync(join(folder, file)))
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown)
  const blocks = new Map((read('blocks.jsonl.gz') as { id: string; text: string }[]).map(({ id, text }) => [id, text]))
  return (read('queries.jsonl.gz') as Query[])
    .map(({ query, blocks: ids }) => ({
      question: query,
      texts: ids.slice(0, texts).map((id) => clip(blocks.get(id) ?? '')),
    }))
    .filter((sample) => new Set(sample.texts).size === texts && sample.texts.every((text) => text !== ''))
    .slice(0, count)
}

/** One paragraph, because blank lines separate the texts. */
function clip(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ').slice(0, textCharacters).trim()
}

const things = ['pump', 'north gate', 'boiler', 'elevator', 'server room door', 'main valve', 'generator', 'crane']
const states = ['open', 'closed', 'under repair', 'leaking', 'locked', 'running', 'switched off', 'being painted']
const people = ['Mara', 'Jonas', 'Ines', 'Tomas', 'Ruth', 'Emil', 'Sofia', 'Pavel']

/** Notes that contradict one another: only their order tells which one still holds. */
function createUpdates(count: number): Sample[] {
  return Array.from({ length: count }, (_, i) => {
    const thing = things[i % things.length]!
    const texts = states.slice(0, 6).map((_, place) => {
      const at = (i * 3 + place * 5) % states.length
      return `${people[(i + place) % people.length]} reports that the ${thing} is ${states[at]}.`
    })
    return { texts, question: `In what state is the ${thing} now, and who says so?` }
  })
}
