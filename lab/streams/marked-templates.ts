import { numberOf, type Random } from './random.ts'
import type { Item } from './traces.ts'

/** A document with the fields that templates show; all but the score belong to the document. */
export interface Dressed {
  readonly text: string
  readonly title: string
  readonly file: string
  readonly url: string
  readonly id: number
  readonly page: number
}

/** A prompt's template: the text of the message that holds the documents. */
export interface PromptTemplate {
  readonly name: string
  readonly render: (documents: readonly Dressed[], question: string) => string
}

export function dress({ id, text }: Item): Dressed {
  const title =
    text
      .split('\n', 1)[0]!
      .replace(/[^\p{L}\p{N} ]/gu, '')
      .slice(0, 80) || 'Untitled'
  const slug = title.toLowerCase().replace(/\W+/g, '-').slice(0, 40)
  return {
    text,
    title,
    file: `${slug}-${numberOf(id, 900)}.md`,
    url: `https://docs.example.com/${slug}-${numberOf(id, 900)}`,
    id: numberOf(`id ${id}`, 50_000),
    page: numberOf(`page ${id}`, 40) + 1,
  }
}

type Form = (document: Dressed, place: number) => string

function listed(name: string, head: string, form: Form, separator: string, tail: string): PromptTemplate {
  return {
    name,
    render: (documents, question) =>
      `${head.replace('{question}', question)}${documents.map((document, i) => form(document, i + 1)).join(separator)}${tail.replace('{question}', question)}`,
  }
}

const use = 'Use the following pieces of context to answer the question at the end.\n\n'
const ask = '\n\nQuestion: {question}\nHelpful Answer:'

/** Forms that frameworks use by default. */
export const markedTemplates: readonly PromptTemplate[] = [
  listed(
    'file path before',
    'Context information is below.\n---------------------\n',
    ({ file, text }) => `file_path: /data/${file}\n\n${text}`,
    '\n\n',
    '\n---------------------\nGiven the context information and not prior knowledge, answer the query.\nQuery: {question}\nAnswer: ',
  ),
  listed(
    'page and path before',
    'Context information is below.\n---------------------\n',
    ({ page, file, text }) => `page_label: ${page}\nfile_path: /data/${file}\n\n${text}`,
    '\n\n',
    '\n---------------------\nQuery: {question}\nAnswer: ',
  ),
  listed(
    'source and number',
    'Please provide an answer based solely on the provided sources. Every answer should include a citation. For example:\nSource 1:\nThe sky is red in the evening.\nSource 2:\nWater is wet when the sky is red.\nNow it is your turn. Below are several numbered sources:\n------\n',
    ({ text }, i) => `Source ${i}:\n${text}\n`,
    '\n\n',
    '\n------\nQuery: {question}\nAnswer: ',
  ),
  listed(
    'content and source',
    'Given the following extracted parts of a long document and a question, create a final answer.\n\n',
    ({ text, url }) => `Content: ${text}\nSource: ${url}`,
    '\n\n',
    '\n\nQUESTION: {question}\nFINAL ANSWER:',
  ),
  listed(
    'content and source, question first',
    'QUESTION: {question}\n=========\n',
    ({ text, url }) => `Content: ${text}\nSource: ${url}`,
    '\n\n',
    '\n=========\nFINAL ANSWER:',
  ),
  listed(
    'elements with attributes',
    'Anything between the context tags is retrieved from a knowledge bank.\n\n<context>\n<documents>\n',
    ({ text, url, title }) => `<document source='${url}' title='${title}'>\n${text}\n</document>`,
    '\n',
    '\n</documents>\n</context>\n\n{question}',
  ),
  listed(
    'elements with an index',
    `${use}<documents>\n`,
    ({ text, file }, i) =>
      `<document index="${i}">\n<source>${file}</source>\n<document_content>\n${text}\n</document_content>\n</document>`,
    '\n',
    `\n</documents>${ask}`,
  ),
  listed('plain elements', `${use}<docs>\n`, ({ text }) => `<doc>${text}</doc>`, '\n', `\n</docs>${ask}`),
  listed('numbers in brackets', use, ({ text }, i) => `[${i}] ${text}`, '\n\n', ask),
  listed(
    'numbers in brackets, question first',
    'Question: {question}\n\nSearch results:\n',
    ({ text, title }, i) => `[${i}] ${title}\n${text}`,
    '\n\n',
    '\n\nCite the results by their numbers.',
  ),
  listed('document and number', use, ({ text }, i) => `Document ${i}: ${text}`, '\n\n', ask),
  listed(
    'document, number and title',
    use,
    ({ text, title }, i) => `Document [${i}](Title: ${title}) ${text}`,
    '\n',
    ask,
  ),
  listed(
    'headings with file names',
    '# Context\n\n',
    ({ text, file }) => `### ${file}\n\n${text}`,
    '\n\n',
    '\n\n# Task\n\n{question}',
  ),
  listed(
    'passage and title in guillemets',
    'Context:\n',
    ({ text, title }, i) => `[${i}] «${title} | ${text}»`,
    '\n',
    '\n\nQuestion: {question}\nAnswer:',
  ),
  listed(
    'JSON objects, a line each',
    'Results of the search, one object a line:\n',
    ({ text, url, title }) => JSON.stringify({ title, url, content: text }),
    '\n',
    '\n\nAnswer: {question}',
  ),
  listed(
    'JSON array',
    'Search results: [',
    ({ text, url, title }) => JSON.stringify({ title, content: text, url }),
    ', ',
    ']\n\nAnswer the question: {question}',
  ),
  listed('source behind in brackets', use, ({ text, url }) => `${text}\n[source: ${url}]`, '\n\n', ask),
  listed('id before, rule between', use, ({ text, id }) => `ID: ${id}\nText: ${text}`, '\n---\n', ask),
  listed(
    'results with title, link and snippet',
    'Web results for the question.\n\n',
    ({ text, url, title }, i) => `${i}. Title: ${title}\nLink: ${url}\nSnippet: ${text}`,
    '\n\n',
    '\n\nReply to: {question}',
  ),
  listed(
    'begin and end marks',
    use,
    ({ text, title }) => `BEGIN DOCUMENT (${title})\n${text}\nEND DOCUMENT`,
    '\n',
    ask,
  ),
]

const syllables = 'ba ze ki lo mu ra tri pon vex qua dro sil nam fer ost'.split(' ')

/** The template of a number, with labels that mean nothing in any language. */
export function nonsenseTemplate(random: Random, n: number): PromptTemplate {
  const word = (): string => Array.from({ length: random.between(2, 3) }, () => random.pick(syllables)).join('')
  const capital = (text: string): string => text[0]!.toUpperCase() + text.slice(1)
  const [w, v, x] = [word(), word(), capital(word())]
  const head = random.pick([
    `${x} ${word()} ${word()} ${word()}.\n\n`,
    `${word()} ${word()}:\n`,
    `@@${w}@@\n`,
    `${x}, ${word()} ${word()} ${word()} ${word()} ${word()}.\n${word()}: `,
  ])
  const forms: readonly (readonly [string, Form, string])[] = [
    ['<w>…</w>', ({ text }) => `<${w}>${text}</${w}>`, '\n'],
    ['<w v="i">', ({ text }, i) => `<${w} ${v}="${i}">\n${text}\n</${w}>`, '\n\n'],
    ['~~ w i ~~', ({ text }, i) => `~~ ${w} ${i} ~~\n${text}`, '\n'],
    ['X i: …', ({ text }, i) => `${x} ${i}: ${text}`, '\n\n'],
    ['(i) …', ({ text }, i) => `(${i}) ${text}`, '\n\n'],
    ['w=F | …', ({ text, file }) => `${w}=${file} | ${text}`, '\n'],
    ['X: T v: …', ({ text, title }) => `${x}: ${title}\n${v}: ${text}`, '\n\n'],
    ['… [w: U]', ({ text, url }) => `${text}\n[${w}: ${url}]`, '\n\n'],
    ['%%%w%%%', ({ text }) => text, `\n%%%${w}%%%\n`],
    ['***', ({ text }) => text, '\n\n***\n\n'],
    ['## X i (F)', ({ text, file }, i) => `## ${x} ${i} (${file})\n\n${text}`, '\n\n'],
    ['{{w}}…{{/w}}', ({ text }) => `{{${w}}}${text}{{/${w}}}`, ''],
    ['※ T ※', ({ text, title }) => `※ ${title} ※\n${text}`, '\n'],
    ['i) X … -- v i', ({ text }, i) => `${i}) ${x}\n${text}\n-- ${v} ${i}`, '\n'],
    ['>>> id >>>', ({ text, id }) => `>>> ${id} >>>\n${text}\n<<<`, '\n'],
    ['JSON', ({ text, file }) => JSON.stringify({ [w]: text, [v]: file }), '\n'],
    ['| i | … |', ({ text }, i) => `| ${i} | ${text.replaceAll('\n', ' ')} |`, '\n'],
    ['wiv…', ({ text }, i) => `${w}${i}${v}${text}`, '\n'],
  ]
  const [name, form, separator] = forms[n % forms.length]!
  const tail = random.pick([
    `\n\n${x}: {question}`,
    `\n${w.toUpperCase()}\n{question}`,
    `\n\n${word()} ${word()}? {question}`,
  ])
  return listed(name, head, form, separator, tail)
}
