/* Lists in framework formats that the finder did not know, each with the texts that must be found. */

/** A text and its source. */
export interface Document {
  readonly name: string
  readonly body: string
}

/** A form of lists: how one document is written. */
interface MarkedForm {
  readonly name: string
  /** Text before the first document, and after the last one. */
  readonly before?: string
  readonly behind?: string
  readonly between?: string
  /** The first number. */
  readonly from?: number
  readonly write: (body: string, number: number, name: string) => string
  /** The content found for a document, if it is not the body alone. */
  readonly content?: (body: string, number: number, name: string) => string
}

const topics =
  'harbour museum comet orchard glacier railway lantern bakery falcon quarry violin meadow turbine lighthouse archive'.split(
    ' ',
  )

const code =
  'Call it so:\n\n    const rows = await read({ path: "a.csv" })\n    if (rows[0] === undefined) return []\n\nIt returns rows.'
const bodies: readonly ((topic: string) => string)[] = [
  (topic) => `The ${topic} opens at nine: see the notes [a] and (b).\n\nIts keeper lives next door.`,
  (topic) => `About the ${topic}. ${code}`,
  (topic) =>
    `Visitors of the ${topic} pay nothing.\n\n- Hours: all day\n- Access: by boat [map]\n\nDogs may come along.`,
  (topic) => `Nobody knows who built the ${topic}, but {"year": null} is in the register.`,
]

/** Returns the given number of documents, which contain blank lines, colons, brackets and code. */
export function documentsOf(count: number): readonly Document[] {
  return topics.slice(0, count).map((topic, i) => ({ name: topic, body: bodies[i % bodies.length]!(topic) }))
}

/** Writes a list of this form. */
export function writeList(form: MarkedForm, documents: readonly Document[]): string {
  const { before = '', behind = '', between = '\n\n', from = 1, write } = form
  const list = documents.map(({ name, body }, i) => write(body, from + i, name))
  return `${before}${list.join(between)}${behind}`
}

/** Returns what must be found of each document. */
export function contentsIn(form: MarkedForm, documents: readonly Document[]): string[] {
  const { content = (body: string) => body, from = 1 } = form
  return documents.map(({ name, body }, i) => content(body, from + i, name))
}

const record =
  (key: string) =>
  (body: string, number: number, name: string): string =>
    `${key}: ${number}\ntitle: ${name}\ntext: ${body}`

/** Labels in various languages, such as `Document 1: …` and `[Document 1]`. */
const spoken = (noun: string, heading: string): MarkedForm[] => [
  { name: `${noun} 1:`, before: `${heading}:\n\n`, write: (body, n) => `${noun} ${n}: ${body}` },
  { name: `[${noun} 1]`, before: `${heading}:\n\n`, write: (body, n) => `[${noun} ${n}]\n${body}` },
  { name: `### ${noun} 1`, write: (body, n) => `### ${noun} ${n}\n${body}` },
]

export const markedForms: readonly MarkedForm[] = [
  { name: 'Document 0:::', from: 0, write: (body, n) => `Document ${n}:::\n${body}` },
  { name: '===== Document 0 =====', from: 0, write: (body, n) => `===== Document ${n} =====\n${body}` },
  { name: '=== Document 0 ===', from: 0, between: '\n', write: (body, n) => `=== Document ${n} ===\n${body}` },
  {
    name: 'Document: 0 with title and text',
    before: '<results>\n',
    behind: '\n</results>\n',
    from: 0,
    write: record('Document'),
    content: record('Document'),
  },
  ...spoken('Документ', 'Документы'),
  ...spoken('Источник', 'Источники'),
  ...spoken('Фрагмент', 'Контекст'),
  ...spoken('문서', '참고 문서'),
  ...spoken('출처', '출처'),
  ...spoken('Documento', 'Documentos'),
  ...spoken('Fonte', 'Fontes'),
  ...spoken('Trecho', 'Trechos'),
  ...spoken('Dokument', 'Dokumente'),
  ...spoken('Quelle', 'Quellen'),
  ...spoken('资料', '参考资料'),
]
