import { type Message, Sender } from '../../reuse/sender.fixture.ts'

/* Prompts as applications write them, with a check that their documents are found and moved exactly. */

/** A retrieved document. */
export interface Document {
  readonly title: string
  readonly text: string
  readonly file: string
  readonly url: string
  readonly score: number
  readonly id: string
  readonly page: number
}

/** How an application writes the retrieved documents and the question as a chat. */
export interface Template {
  readonly name: string
  readonly write: (documents: readonly Document[], question: string) => Message[]
}

/** What happened to a template's documents. */
type Verdict =
  /** sent byte for byte in the order cached by the engine, with at most one insertion */
  | 'exact'
  /** nothing was found, or nothing moved */
  | 'missed'
  /** sent with other borders, or in another order */
  | 'torn'

const topics =
  'harbour museum comet orchard glacier railway lantern bakery falcon quarry violin meadow turbine lighthouse archive'.split(
    ' ',
  )

type Write = (topic: string) => string

const code = '```ts\nconst rows = await read({ path: "a.csv" })\nif (rows[0] === undefined) return []\n```'
const kinds: Readonly<Record<string, readonly Write[]>> = {
  short: [
    (topic) => `The ${topic} opens at nine every morning, and its keeper lives next door with two dogs.`,
    (topic) => `Nobody knows who built the ${topic}: the register says only that it burned down in 1846 and 1911.`,
    (topic) => `Visitors of the ${topic} pay nothing (children neither), but a boat has to be hired to reach it.`,
  ],
  passages: [
    (topic) =>
      `The ${topic} opens at nine: see the notes [a] and (b).\n\nIts keeper lives next door, as his father did before him. He knows the place well and tells of it gladly.`,
    (topic) =>
      `In the register the ${topic} is called old.\n\nThat may be wrong. The wood of its roof was felled in 1846, and the stones came by rail, which was built later.\n\nMore is not known.`,
    (topic) => `A boat goes to the ${topic} every hour.\nIt takes forty people and four horses.`,
  ],
  markdown: [
    (topic) =>
      `# About the ${topic}\n\nThe ${topic} has three parts:\n\n- the old one, of wood\n- the new one\n- a yard\n\n## Hours\n\nAll day, but not at night.`,
    (topic) => `# Using the ${topic}\n\nCall it so:\n\n${code}\n\nIt returns rows, or nothing.`,
    (topic) => `## The ${topic} of today\n\n1. It is open.\n2. It is free.\n\n**Note:** dogs may come along.`,
  ],
}

/** The kinds of documents with which templates are tested. */
export const documentKinds: readonly string[] = Object.keys(kinds)

/** Returns five documents of one kind. */
export function documentsOf(kind: string, from: number): Document[] {
  return Array.from({ length: 5 }, (_, i): Document => {
    const topic = topics[(from + i) % topics.length]!
    const write = kinds[kind]![i % kinds[kind]!.length]!
    return {
      title: `The ${topic}`,
      text: write(topic),
      file: `notes/${topic}.md`,
      url: `https://docs.example.com/${topic}`,
      score: Math.round(91 - i * 7.3) / 100,
      id: `${topic.slice(0, 3)}${(from + i) * 37 + 11}`,
      page: ((from + i * 5) % 9) + 1,
    }
  })
}

const question = 'Which of these places can be visited at night, and what does it cost?'
const before = 'What else is known of these places?'

/** Returns what happens to a template's documents if an engine has seen them in another order. */
export function judge({ write }: Template, documents: readonly Document[]): Verdict {
  const held = documents.toReversed()
  const sender = new Sender()
  const received = textsOf(write(documents, question))
  const whole = received.join('\n\n')
  // nothing after a different question is cached
  const [firstWords] = /^[^\n"]{1,20}/.exec(documents[0]!.text)!
  const isAskedFirst = whole.indexOf(question) < whole.indexOf(firstWords)
  sender.send(write(held, isAskedFirst ? question : before))
  const sent = textsOf(sender.send(write(documents, question)))
  if (sent.join('\n\n') === whole) return 'missed'
  const expected = textsOf(write(held, question))
  const isExact = sent.length === expected.length && sent.every((text, i) => isInserted(text, expected[i]!))
  return isExact ? 'exact' : 'torn'
}

/** Returns whether `text` is `expected` with at most one insertion. */
function isInserted(text: string, expected: string): boolean {
  let at = 0
  while (at < expected.length && text[at] === expected[at]) at++
  return text.length >= expected.length && text.endsWith(expected.slice(at))
}

function textsOf(messages: readonly Message[]): string[] {
  return messages.flatMap(({ content }) => {
    if (typeof content === 'string') return [content]
    return Array.isArray(content) ? content.map(({ text }: { text: string }) => text) : []
  })
}

export function user(content: string): Message {
  return { role: 'user', content }
}

export function system(content: string): Message {
  return { role: 'system', content }
}

/** Returns a tool call by the assistant and its result. */
export function called(tool: string, asked: string, result: string): Message[] {
  const call = { id: 'call_1', type: 'function', function: { name: tool, arguments: JSON.stringify({ query: asked }) } }
  return [
    user(asked),
    { role: 'assistant', content: null, tool_calls: [call] } as Message,
    { role: 'tool', tool_call_id: 'call_1', content: result } as Message,
  ]
}

/** Joins what `write` returns for each document, numbered from 1. */
export function list(
  documents: readonly Document[],
  write: (document: Document, number: number) => string,
  between = '\n\n',
): string {
  return documents.map((document, i) => write(document, i + 1)).join(between)
}

export type Documents = readonly Document[]

/** Templates grouped by where their documents are. */
interface TemplateTexts {
  /** documents and question in one user message */
  readonly asked?: Readonly<Record<string, (documents: Documents, question: string) => string>>
  /** documents in the system message */
  readonly told?: Readonly<Record<string, (documents: Documents) => string>>
  /** documents in a tool's result */
  readonly returned?: Readonly<Record<string, readonly [tool: string, write: (documents: Documents) => string]>>
}

export function toTemplates({ asked = {}, told = {}, returned = {} }: TemplateTexts): Template[] {
  return [
    ...Object.entries(asked).map(([name, write]) => ({
      name,
      write: (documents: Documents, question: string) => [user(write(documents, question))],
    })),
    ...Object.entries(told).map(([name, write]) => ({
      name,
      write: (documents: Documents, question: string) => [system(write(documents)), user(question)],
    })),
    ...Object.entries(returned).map(([name, [tool, write]]) => ({
      name,
      write: (documents: Documents, question: string) => called(tool, question, write(documents)),
    })),
  ]
}
