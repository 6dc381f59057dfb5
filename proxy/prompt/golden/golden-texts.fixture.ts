import { readdirSync, readFileSync } from 'node:fs'

/* Texts whose finds are written down in found.golden.txt: every change of what is found shows as a diff of that file. */

/** A chat whose finds are written down. */
export interface GoldenCase {
  readonly name: string
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
}

const bodies = [
  'Rain fell over the northern hills for three days.',
  'The museum opens at nine and closes at six.',
  'A comet passed the outer planets in the spring.',
]

const nouns =
  'Document Doc Source Passage Context Chunk Reference Memory File Result Snippet Excerpt Article Page Section Step Chapter Option Example Quelle Dokument Fuente Extrait 文档 资料 来源 文書'.split(
    ' ',
  )

type Write = (noun: string, body: string, number: number) => string

const labels: Readonly<Record<string, Write>> = {
  spoken: (noun, body, n) => `${noun} ${n}: ${body}`,
  'spoken below': (noun, body, n) => `${noun} ${n}:\n${body}`,
  bracketed: (noun, body, n) => `[${noun} ${n}] ${body}`,
  underscored: (noun, body, n) => `[${noun}_${n}] ${body}`,
  linked: (noun, body, n) => `${noun} [${n}]: ${body}`,
  heading: (noun, body, n) => `### ${noun} ${n}\n${body}`,
  bold: (noun, body, n) => `**${noun} ${n}:** ${body}`,
  framed: (noun, body, n) => `--- ${noun} ${n} ---\n${body}`,
  titled: (noun, body, n) => `${noun} ${n} (Title: t${n}) ${body}`,
}

const tags: Readonly<Record<string, Write>> = {
  plain: (noun, body) => `<${noun}>\n${body}\n</${noun}>`,
  indexed: (noun, body, n) => `<${noun} index="${n}">${body}</${noun}>`,
  named: (noun, body, n) => `<${noun} path="${n}.md">\n${body}\n</${noun}>`,
}

const bare: Readonly<Record<string, Write>> = {
  'bare number': (_, body, n) => `[${n}] ${body}`,
  'Chinese number': (_, body, n) => `【${n}】${body}`,
  'number without space': (_, body, n) => `[${n}]${body}`,
  ordinal: (_, body, n) => `${n}. ${body}`,
  bullet: (_, body) => `- ${body}`,
  record: (_, body, n) => `Source: ${n}.md\nContent: ${body}`,
  'record behind': (_, body, n) => `Content: ${body}\nSource: ${n}.md`,
  metadata: (_, body, n) => `file_path: ${n}.md\n\n${body}`,
  quoted: (_, body) => `Article section:\n"""\n${body}\n"""`,
  fenced: (_, body, n) => `src/${n}.ts\n\`\`\`\n${body}\n\`\`\``,
  object: (_, body, n) => JSON.stringify({ id: n, text: body }),
}

const frames: Readonly<Record<string, (list: string) => string>> = {
  bare: (list) => list,
  asked: (list) => `${list}\n\nQuestion: why?`,
  announced: (list) => `Answer from these documents:\n\n${list}\n\nQuestion: why?`,
  contained: (list) => `<context>\n${list}\n</context>\n\nWhy?`,
  steps: (list) => `Follow these steps:\n\n${list}`,
  'asked in front': (list) => `Question: why?\n\nSources:\n${list}`,
}

function write(form: Write, noun: string, gap: string): string {
  return bodies.map((body, i) => form(noun, body, i + 1)).join(gap)
}

function* writeTexts(): Generator<[string, string]> {
  yield* writeLabelled()
  yield* writeTagged()
  yield* writeBare()
  yield* writeJson()
  yield* writeOrdered()
}

function* writeLabelled(): Generator<[string, string]> {
  for (const [form, mark] of Object.entries(labels)) {
    for (const noun of nouns) {
      for (const frame of ['bare', 'asked', 'contained']) {
        yield [`${form} ${noun}, ${frame}`, frames[frame]!(write(mark, noun, '\n\n'))]
      }
    }
  }
}

function* writeTagged(): Generator<[string, string]> {
  const names = [...nouns, 'search_result', 'file_content', 'item', 'data', 'content', 'turn', 'message', 'instruction']
  for (const [form, mark] of Object.entries(tags)) {
    for (const noun of names.filter((name) => /^[\w]+$/.test(name)).map((name) => name.toLowerCase())) {
      for (const frame of ['bare', 'asked', 'contained', 'steps']) {
        yield [`tag ${form} ${noun}, ${frame}`, frames[frame]!(write(mark, noun, '\n'))]
      }
    }
  }
}

function* writeBare(): Generator<[string, string]> {
  for (const [form, mark] of Object.entries(bare)) {
    for (const [frame, put] of Object.entries(frames)) {
      for (const gap of ['\n\n', '\n']) yield [`${form}, ${frame}, ${JSON.stringify(gap)}`, put(write(mark, '', gap))]
    }
  }
  for (const rule of ['\n\n---\n\n', '\n---\n', '\n\n===\n\n', '\n\n', '\n']) {
    for (const [frame, put] of Object.entries(frames))
      yield [`joined by ${JSON.stringify(rule)}, ${frame}`, put(bodies.join(rule))]
  }
}

function* writeJson(): Generator<[string, string]> {
  const lists = 'results documents chunks items pages messages steps memories data comments'.split(' ')
  const members: Readonly<Record<string, (n: number) => object>> = {
    nothing: () => ({}),
    url: (n) => ({ url: `https://a.example/${n}` }),
    score: (n) => ({ score: 1 / n }),
    date: (n) => ({ created_at: `2026-01-0${n}` }),
    page: (n) => ({ page: n }),
    author: (n) => ({ author: `A${n}` }),
    number: (n) => ({ document: n }),
  }
  for (const list of lists) {
    for (const [what, own] of Object.entries(members)) {
      const json = JSON.stringify({ [list]: bodies.map((content, i) => ({ ...own(i + 1), content })) })
      yield [`JSON ${list} with ${what}`, json]
    }
  }
}

/** What texts begin with that tell an order, and one that does not. */
const begun: Readonly<Record<string, (place: number) => string>> = {
  days: (n) => `2026-0${n}-12: `,
  clocks: (n) => `[10:0${n}:12] `,
  chapters: (n) => `Chapter ${n}\n\n`,
  releases: (n) => `## v1.${n}.0\n`,
  speakers: (n) => `${n === 2 ? 'Bo' : 'Ann'}: `,
  mails: (n) => `From: a@x.org\nTo: b@x.org\nDate: ${n} Jun 2026 10:00\n\n`,
  hunks: (n) => `@@ -${n} +${n} @@\n`,
  topics: (n) => `Topic ${'abc'[n - 1]}. `,
}

function* writeOrdered(): Generator<[string, string]> {
  for (const [what, begin] of Object.entries(begun)) {
    for (const places of [
      [1, 2, 3],
      [3, 2, 1],
      [2, 1, 3],
    ]) {
      const texts = bodies.map((body, i) => begin(places[i]!) + body)
      const labelled = texts.map((text, i) => `Document ${i + 1}: ${text}`).join('\n\n')
      const tagged = texts.map((text) => `<document>\n${text}\n</document>`).join('\n')
      yield [`${what} ${places.join()}, labelled`, frames.asked!(labelled)]
      yield [`${what} ${places.join()}, tagged`, frames.asked!(tagged)]
    }
  }
}

/** Written texts as a user's message and, of some, as a tool's result; and the requests of frameworks. */
export function* goldenCases(): Generator<GoldenCase> {
  for (const [name, content] of writeTexts()) {
    yield { name, messages: [{ role: 'user', content }] }
    if (!/contained|asked|steps/.test(name)) yield { name: `tool: ${name}`, messages: [{ role: 'tool', content }] }
  }
  for (const last of ['Why does it rain?', 'Summarise the text above in its order.', 'Question: why?']) {
    const content = [...bodies, last].map((text) => ({ type: 'text', text }))
    yield { name: `parts in front of ${last}`, messages: [{ role: 'user', content }] }
  }
  const folder = new URL('../../../e2e/fixtures/', import.meta.url)
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
    const { messages } = JSON.parse(readFileSync(new URL(file, folder), 'utf8')).body
    yield { name: `framework ${file.slice(0, -5)}`, messages }
  }
}
