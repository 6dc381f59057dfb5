import { called, list, system, type Template, user } from './template.fixture.ts'

const flat = (text: string): string => text.replaceAll('\n', ' ')

/** The first half of developed-later.fixture.ts. */
export const firstHalf: readonly Template[] = [
  {
    name: '(1) text',
    write: (d, q) => [user(`Context:\n\n${list(d, (o, i) => `(${i}) ${o.text}`)}\n\nQuestion: ${q}`)],
  },
  {
    name: '[doc1]=text',
    write: (d, q) => [
      user(
        `Use the documents to answer.\n\n${list(d, (o, i) => `[doc${i}]=${flat(o.text)}`)}\n\nQuestion: ${q}\nAnswer:`,
      ),
    ],
  },
  {
    name: '[Passage 1]: in a system prompt',
    write: (d, q) => [
      system(
        `You have access to document knowledge.\n\nHere are the relevant passages from the documents:\n\n${list(d, (o, i) => `[Passage ${i}]:\n${o.text}`)}`,
      ),
      user(q),
    ],
  },
  {
    name: '1. [SOURCE] title, URL below',
    write: (d, q) =>
      called(
        'search_web',
        q,
        list(d, (o, i) => `${i}. [WIKIPEDIA] ${o.title}\n   URL: ${o.url}\n   ${flat(o.text)}`),
      ),
  },
  {
    name: '--- Excerpt 1: file | topic (Page 5) ---',
    write: (d, q) => [
      user(
        `Context:\n${list(d, (o, i) => `--- Excerpt ${i}: ${o.file} | ${o.title} (Page ${o.page}) ---\n${o.text}`)}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: 'rules and [Source: a, lines 3-9, score: 0.91]',
    write: (d, q) => [
      system(
        `Relevant context from your knowledge base:\n${list(d, (o) => `\n---\n[Source: ${o.file}, lines ${o.page}-${o.page + 20}, score: ${o.score}]\n${o.text}`, '\n')}`,
      ),
      user(q),
    ],
  },
  {
    name: 'question first, [1] title',
    write: (d, q) => [
      user(
        `Question: ${q}\n\nUse ONLY the sources below. Provide citations like [1] after each fact.\n\nSources:\n${list(d, (o, i) => `[${i}] ${o.title}\n${o.text}\n`, '\n')}`,
      ),
    ],
  },
  {
    name: '[PMID:123] title',
    write: (d, q) => [
      user(
        `Abstracts retrieved from PubMed:\n\n${list(d, (o) => `[PMID:${o.id}] ${o.title}\n${o.text}`)}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: 'DOC_ID, TITLE, TEXT and rules',
    write: (d, q) => [
      user(
        `# Documents\n\n${list(d, (o) => `DOC_ID: ${o.id}\nTITLE: ${o.title}\nTEXT: ${o.text}`, '\n---\n')}\n\n# Question\n${q}`,
      ),
    ],
  },
  {
    name: 'search_result with content and source number',
    write: (d, q) => [
      user(
        `I will provide you with a set of search results.\n\n<search_results>\n${list(d, (o, i) => `<search_result>\n<content>\n${o.text}\n</content>\n<source>\n${i}\n</source>\n</search_result>`, '\n')}\n</search_results>\n\nHere is the user's question:\n<question>\n${q}\n</question>`,
      ),
    ],
  },
  {
    name: '[Source: gs://bucket/file]',
    write: (d, q) => [
      user(`Context:\n${list(d, (o) => `[Source: gs://corpus/${o.file}]\n${o.text}`)}\n\nQuestion: ${q}`),
    ],
  },
  {
    name: 'Document 1 (file): in three quotes',
    write: (d, q) => [
      user(
        `Answer from these documents.\n\n${list(d, (o, i) => `Document ${i} (${o.file}):\n"""\n${o.text}\n"""`)}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: '<DOC id="1">',
    write: (d, q) => [user(`${list(d, (o, i) => `<DOC id="${i}" src="${o.file}">\n${o.text}\n</DOC>`, '\n')}\n\n${q}`)],
  },
  {
    name: '[Document 1] (Score 12.3), title, body',
    write: (d, q) =>
      called(
        'search_index',
        q,
        list(d, (o, i) => `[Document ${i}] (Score ${o.score})\ntitle: ${o.title}\nbody: ${o.text}`),
      ),
  },
  {
    name: 'Result 1 (distance 0.21):',
    write: (d, q) => [
      user(
        `Retrieved results:\n\n${list(d, (o, i) => `Result ${i} (distance ${o.score}):\n${o.text}`)}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: 'JSON of pageContent in text parts',
    write: (d, q) =>
      called(
        'knowledge_base',
        q,
        JSON.stringify(
          d.map((o) => ({ type: 'text', text: JSON.stringify({ pageContent: o.text, metadata: { source: o.file } }) })),
        ),
      ),
  },
  {
    name: 'JSON of pageContent and metadata',
    write: (d, q) =>
      called(
        'retriever',
        q,
        JSON.stringify(
          d.map((o) => ({ pageContent: o.text, metadata: { source: o.file, loc: { pageNumber: o.page } } })),
        ),
      ),
  },
  {
    name: '*Result 1:* <url|title>',
    write: (d, q) => [
      user(
        `Search results:\n\n${list(d, (o, i) => `*Result ${i}:* <${o.url}|${o.title}>\n${o.text}`)}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: '### Quelle 1: Datei (Seite 3)',
    write: (d, q) => [
      system(
        `Beantworte die Frage anhand der folgenden Quellen.\n\n${list(d, (o, i) => `### Quelle ${i}: ${o.file} (Seite ${o.page})\n${o.text}`)}`,
      ),
      user(q),
    ],
  },
  {
    name: 'Textabschnitt 1:',
    write: (d, q) => [user(`Kontext:\n\n${list(d, (o, i) => `Textabschnitt ${i}:\n${o.text}`)}\n\nFrage: ${q}`)],
  },
  {
    name: '**Source n°1** — titre',
    write: (d, q) => [
      user(
        `Voici les sources :\n\n${list(d, (o, i) => `**Source n°${i}** — ${o.title}\n${o.text}`)}\n\nQuestion : ${q}`,
      ),
    ],
  },
  {
    name: '=== FUENTE 1: archivo (relevancia: 0.9) ===',
    write: (d, q) => [
      user(
        `Contexto:\n\n${list(d, (o, i) => `=== FUENTE ${i}: ${o.file} (relevancia: ${o.score}) ===\n${o.text}`)}\n\nPregunta: ${q}`,
      ),
    ],
  },
  {
    name: 'Documento n. 1 (fonte: file):',
    write: (d, q) => [
      user(
        `Rispondi usando solo i documenti seguenti.\n\n${list(d, (o, i) => `Documento n. ${i} (fonte: ${o.file}):\n${o.text}`)}\n\nDomanda: ${q}`,
      ),
    ],
  },
  {
    name: '[Trecho 1 | fonte: file]',
    write: (d, q) => [
      user(`Contexto:\n${list(d, (o, i) => `[Trecho ${i} | fonte: ${o.file}]\n${o.text}`)}\n\nPergunta: ${q}`),
    ],
  },
]
