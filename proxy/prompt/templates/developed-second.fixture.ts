import { called, list, system, type Template, user } from './template.fixture.ts'

/** The second half of developed.fixture.ts. */
export const secondHalf: readonly Template[] = [
  {
    name: 'Query, File path, Score, Code Chunk',
    write: (d, q) =>
      called(
        'codebase_search',
        q,
        `Query: ${q}\nResults:\n\n${list(d, (o) => `File path: ${o.file}\nScore: ${o.score}\nLines: 1-40\nCode Chunk: ${o.text}\n`, '\n')}`,
      ),
  },
  {
    name: 'Source below a heading, long rules',
    write: (d, q) =>
      called(
        'get_library_docs',
        q,
        list(d, (o) => `### ${o.title}\n\nSource: ${o.url}\n\n${o.text}`, `\n\n${'-'.repeat(32)}\n\n`),
      ),
  },
  {
    name: 'Page and Summary',
    write: (d, q) =>
      called(
        'wikipedia',
        q,
        list(d, (o) => `Page: ${o.title}\nSummary: ${o.text}`),
      ),
  },
  {
    name: 'Source, rules of ===',
    write: (d, q) => [
      user(
        `<User Input> \n${q}\n<User Input>\n\n<Context>\nSources:\n\n${list(d, (o) => `Source: ${o.title}\n===\nURL: ${o.url}\n===\nMost relevant content from source: ${o.text}\n===\n`, '\n')}\n</Context>`,
      ),
    ],
  },
  {
    name: 'Citation 1. Title, URL, Summary',
    write: (d, q) => [
      user(
        `Generate a comprehensive answer based solely on the provided web search results.\n\n${list(d, (o, i) => `Citation ${i}. Title: ${o.title}\nURL: ${o.url}\nSummary: ${o.text}`)}\n\n---------------------\nMake sure to match the language of the user's question.\n\nQuestion: ${q}\nAnswer (in the language of the user's question): `,
      ),
    ],
  },
  {
    name: 'ID | TITLE | CONTENT',
    write: (d, q) => [
      user(
        `You will be given a list of documents.\n\n${list(d, (o, i) => `ID: ${i} | TITLE: ${o.title} | CONTENT: ${o.text.replaceAll('\n', ' ')}`, '\n')}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: '- [doc:0-50] text',
    write: (d, q) => [
      user(
        `Use the provided document chunks to answer.\nChunks:\n${list(d, (o) => `- [${o.id}:${o.page}-${o.page + 40}] ${o.text.replaceAll('\n', ' ')}`, '\n')}\nQuestion: ${q}\nAnswer succinctly and cite chunk metadata.`,
      ),
    ],
  },
  {
    name: '- Document ID: a, Span: 0-50',
    write: (d, q) => [
      user(
        `Answer based only on the provided document chunks.\n\nChunks:\n${list(d, (o) => `- Document ID: ${o.id}, Span: ${o.page}-${o.page + 40}\n  Content: ${o.text.replaceAll('\n', ' ')}`, '\n')}\n\nInstructions:\n- Use ONLY the information from the chunks.\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: 'Retrieved memories, numbered, with scores',
    write: (d, q) => [
      user(
        `You are answering questions based on memories from past conversations.\n\nRetrieved memories:\n${list(d, (o, i) => `${i}. ${o.text.replaceAll('\n', ' ')} (relevance: ${o.score})`, '\n')}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: '■文書1',
    write: (d, q) => [
      user(
        `以下の参考文書に基づいて質問に答えてください。\n\n${list(d, (o, i) => `■文書${i}\n${o.text}`)}\n\n質問：${q}`,
      ),
    ],
  },
  {
    name: '--- Dokument 1: file ---',
    write: (d, q) => [
      system(
        `Beantworte die Frage nur anhand der folgenden Dokumente.\n\n${list(d, (o, i) => `--- Dokument ${i}: ${o.file} ---\n${o.text}`)}`,
      ),
      user(q),
    ],
  },
  {
    name: '[Quelle: file, Seite 3]',
    write: (d, q) => [
      user(
        `Kontext:\n\n${list(d, (o) => `[Quelle: ${o.file}, Seite ${o.page}]\n${o.text}`)}\n\nFrage: ${q}\n\nAntwort:`,
      ),
    ],
  },
  {
    name: 'Document n°1 :',
    write: (d, q) => [
      user(
        `Réponds à la question à partir des documents suivants.\n\n${list(d, (o, i) => `Document n°${i} :\n${o.text}`)}\n\nQuestion : ${q}`,
      ),
    ],
  },
  {
    name: 'Fragmento 1 [file]:',
    write: (d, q) => [
      user(
        `Usa los siguientes fragmentos para responder.\n\n${list(d, (o, i) => `Fragmento ${i} [${o.file}]:\n${o.text}`)}\n\nPregunta: ${q}\nRespuesta:`,
      ),
    ],
  },
  {
    name: '📄 Document 1: title',
    write: (d, q) => [
      user(`Context:\n\n${list(d, (o, i) => `📄 Document ${i}: ${o.title}\n${o.text}`)}\n\nQuestion: ${q}`),
    ],
  },
  {
    name: '参考资料[1] 来源：',
    write: (d, q) => [
      system(`请仅根据参考资料回答。\n\n# 参考资料\n${list(d, (o, i) => `[参考资料${i}] 来源：${o.file}\n${o.text}`)}`),
      user(q),
    ],
  },
  {
    name: '出处 [1] [file](url)',
    write: (d, q) => [
      user(`已知内容：\n\n${list(d, (o, i) => `出处 [${i}] [${o.file}](${o.url}) \n\n${o.text}`)}\n\n问题：${q}`),
    ],
  },
  {
    name: 'bullets of stars',
    write: (d, q) => [
      user(
        `Answer the question as truthfully as possible using the provided context.\n\nContext:\n${list(d, (o) => `* ${o.text.replaceAll('\n', ' ')}`, '\n')}\n\n Q: ${q}\n A:`,
      ),
    ],
  },
  {
    name: '**[1] Title** with url below',
    write: (d, q) => [
      system(
        `## Web results\n\n${list(d, (o, i) => `**[${i}] ${o.title}**\n${o.url}\n${o.text}`)}\n\nCite results by their number.`,
      ),
      user(q),
    ],
  },
  {
    name: '## Source 1: title',
    write: (d, q) => [
      system(`# Knowledge base excerpts\n\n${list(d, (o, i) => `## Source ${i}: ${o.title}\n\n${o.text}`)}`),
      user(q),
    ],
  },
  {
    name: '[Retrieved Context 1]',
    write: (d, q) => [
      user(
        `${list(d, (o, i) => `[Retrieved Context ${i}] (similarity ${o.score})\n${o.text}`)}\n\nBased on the context above, answer: ${q}`,
      ),
    ],
  },
  {
    name: '### Relevant Document 1 (Score: 0.9)',
    write: (d, q) => [
      user(
        `## Context\n\n${list(d, (o, i) => `### Relevant Document ${i} (Score: ${o.score})\n${o.text}`)}\n\n## Question\n${q}`,
      ),
    ],
  },
  {
    name: '>>> passage 1',
    write: (d, q) => [user(`Passages:\n${list(d, (o, i) => `>>> passage ${i}\n${o.text}`, '\n')}\n\nQuestion: ${q}`)],
  },
  {
    name: '<document 1> … </document 1>',
    write: (d, q) => [
      user(
        `Use these documents:\n\n${list(d, (o, i) => `<document ${i}>\n${o.text}\n</document ${i}>`)}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: '{{chunk 1}} … {{/chunk}}',
    write: (d, q) => [
      user(
        `Context chunks follow.\n\n${list(d, (o, i) => `[CHUNK ${i}]\n${o.text}\n[/CHUNK ${i}]`)}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: '# Source: file, alone in its line',
    write: (d, q) => [
      user(
        `Here are relevant documentation pages:\n\n${list(d, (o) => `<!-- source: ${o.file} -->\n${o.text}`)}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: 'text (Source: file)',
    write: (d, q) => [
      user(`Context:\n${list(d, (o) => `${o.text}\n(Source: ${o.file}, p. ${o.page})`)}\n\nQuestion: ${q}`),
    ],
  },
  {
    name: 'From: file',
    write: (d, q) => [
      user(
        `Relevant excerpts from our documentation:\n\n${list(d, (o) => `From ${o.file}:\n${o.text}`)}\n\nUser question: ${q}`,
      ),
    ],
  },
  {
    name: 'path and fence in backquotes',
    write: (d, q) => [
      user(
        `Here are the relevant files:\n\n${list(d, (o) => `\`${o.file}\`:\n\n~~~\n${o.text}\n~~~`)}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: 'CSV rows of documents',
    write: (d, q) => [
      user(
        `-----Sources-----\nid,source,text\n${list(d, (o, i) => `${i},${o.file},"${o.text.replaceAll('"', '""')}"`, '\n')}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: 'a table of results',
    write: (d, q) => [
      user(
        `Search results:\n\n| # | Source | Text |\n|---|---|---|\n${list(d, (o, i) => `| ${i} | ${o.file} | ${o.text.replaceAll('\n', ' ')} |`, '\n')}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: 'Evidence #1:',
    write: (d, q) => [
      user(`Evidence:\n\n${list(d, (o, i) => `Evidence #${i} [${o.file}]: ${o.text}`)}\n\nClaim to check: ${q}`),
    ],
  },
]
