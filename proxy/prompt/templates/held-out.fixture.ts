import { called, list, system, type Template, user } from './template.fixture.ts'

/* Templates that the finder was not mended by: how it does on these is how it does on those of others. */

const flat = (text: string): string => text.replaceAll('\n', ' ')

export const heldOut: readonly Template[] = [
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
  {
    name: '### 参考資料1：title',
    write: (d, q) => [
      user(
        `以下の参考資料を使って質問に答えてください。\n\n${list(d, (o, i) => `### 参考資料${i}：${o.title}\n${o.text}`)}\n\n質問：${q}`,
      ),
    ],
  },
  {
    name: '[1] (出典: file)',
    write: (d, q) => [system(`検索結果：\n\n${list(d, (o, i) => `[${i}] (出典: ${o.file})\n${o.text}`)}`), user(q)],
  },
  {
    name: '[1] 来源：file 内容：',
    write: (d, q) => [
      user(`已知信息：\n${list(d, (o, i) => `[${i}] 来源：${o.file}\n内容：${o.text}`)}\n\n问题：${q}`),
    ],
  },
  {
    name: '### 片段1（来源：file，相似度：0.9）',
    write: (d, q) => [
      system(
        `以下是检索到的内容：\n\n${list(d, (o, i) => `### 片段${i}（来源：${o.file}，相似度：${o.score}）\n${o.text}`)}`,
      ),
      user(q),
    ],
  },
  {
    name: '[문서 1: title]',
    write: (d, q) => [user(`참고 문서:\n\n${list(d, (o, i) => `[문서 ${i}: ${o.title}]\n${o.text}`)}\n\n질문: ${q}`)],
  },
  {
    name: 'Фрагмент №1 (источник: file):',
    write: (d, q) => [
      user(
        `Ответь на вопрос по контексту.\n\nКонтекст:\n${list(d, (o, i) => `Фрагмент №${i} (источник: ${o.file}):\n${o.text}`)}\n\nВопрос: ${q}`,
      ),
    ],
  },
  {
    name: '[Memory 1] (relevance: 0.9) text',
    write: (d, q) => [
      system(
        `## Relevant memories\n\n${list(d, (o, i) => `[Memory ${i}] (relevance: ${o.score}) ${flat(o.text)}`, '\n')}`,
      ),
      user(q),
    ],
  },
  {
    name: '<chunk fileName similarity>',
    write: (d, q) => [
      system(
        `<knowledge_base_context>\n${list(d, (o) => `<chunk fileId="${o.id}" fileName="${o.file}" similarity="${o.score}">${o.text}</chunk>`, '\n')}\n</knowledge_base_context>`,
      ),
      user(q),
    ],
  },
  {
    name: '1. Code snippet, Location, Rank, Context',
    write: (d, q) =>
      called(
        'search_code',
        q,
        `Found 5 results for query:\n\n${list(d, (o, i) => `${i}. Code snippet (typescript) [notes]\n   Location: ${o.file}:1-40\n   Rank: ${i}\n   Context: \n\`\`\`typescript\n${flat(o.text)}\n\`\`\``)}`,
      ),
  },
  {
    name: '# File: path, fenced',
    write: (d, q) => [
      user(
        `Use these files as context.\n\n${list(d, (o) => `# File: ${o.file}\n~~~\n${o.text}\n~~~`)}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: 'File: path, fenced',
    write: (d, q) => [
      user(
        `Relevant files from the codebase:\n\n${list(d, (o) => `File: ${o.file}\n~~~\n${o.text}\n~~~`)}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: 'results of a file search as elements',
    write: (d, q) => [
      user(
        `Query: ${q}\n\nResults:\n<sources>${list(d, (o) => `<result file_id='${o.id}' file_name='${o.file}'><content>${o.text}</content></result>`, '')}</sources>`,
      ),
    ],
  },
  {
    name: '1. metadata, text below',
    write: (d, q) => [
      user(
        `### Relevant Documents\nUse the following documents to answer the question:\n\n${list(d, (o, i) => `${i}. {'source': '${o.file}'}\n${o.text}`)}\n\n### Current Question\n${q}`,
      ),
    ],
  },
  {
    name: 'Doc#1 | title | url',
    write: (d, q) => [
      user(
        `Context documents:\n\n${list(d, (o, i) => `Doc#${i} | ${o.title} | ${o.url}\n${o.text}`)}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: '§§§ Source 1 §§§',
    write: (d, q) => [user(`Sources:\n\n${list(d, (o, i) => `§§§ Source ${i} §§§\n${o.text}`)}\n\nQuestion: ${q}`)],
  },
  { name: '@@DOC 1@@', write: (d, q) => [user(`${list(d, (o, i) => `@@DOC ${i}@@\n${o.text}`)}\n\nQuestion: ${q}`)] },
  {
    name: 'Source [1] (file): text',
    write: (d, q) => [
      user(`Sources:\n\n${list(d, (o, i) => `Source [${i}] (${o.file}): ${o.text}`)}\n\nQuestion: ${q}`),
    ],
  },
  {
    name: 'Hit 1 — title — url',
    write: (d, q) => [
      user(
        `Top hits from the search index:\n\n${list(d, (o, i) => `Hit ${i} — ${o.title} — ${o.url}\n${o.text}`)}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: 'Page: title (url)',
    write: (d, q) =>
      called(
        'search_wiki',
        q,
        list(d, (o) => `Page: ${o.title} (${o.url})\n\n${o.text}`, '\n\n---\n\n'),
      ),
  },
  {
    name: 'Chunk ID, Document, Content',
    write: (d, q) => [
      user(
        `Retrieved chunks:\n\n${list(d, (o) => `Chunk ID: ${o.id}\nDocument: ${o.file}\nContent: ${o.text}`)}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: '[Source 1] text [/Source 1]',
    write: (d, q) => [
      user(`Sources:\n${list(d, (o, i) => `[Source ${i}]\n${o.text}\n[/Source ${i}]`, '\n')}\n\nQuestion: ${q}`),
    ],
  },
  {
    name: '<<SOURCE 1>> text <</SOURCE 1>>',
    write: (d, q) => [
      user(
        `<<SOURCES>>\n${list(d, (o, i) => `<<SOURCE ${i}: ${o.title}>>\n${o.text}\n<</SOURCE ${i}>>`, '\n')}\n<</SOURCES>>\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: 'notes with links of a vault',
    write: (d, q) => [
      user(`Relevant notes:\n\n${list(d, (o) => `Note: [[${o.title}]]\n${o.text}`)}\n\nQuestion: ${q}`),
    ],
  },
  {
    name: 'text, URL behind it in its line',
    write: (d, q) => [user(`Documents:\n${list(d, (o) => `${flat(o.text)} URL: ${o.url}`, '\n')}\n\nQuestion: ${q}`)],
  },
  {
    name: 'Title: … Snippet: … Link: … with numbers',
    write: (d, q) =>
      called(
        'google_search',
        q,
        list(d, (o, i) => `${i}. Title: ${o.title}\n   Link: ${o.url}\n   Snippet: ${flat(o.text)}`),
      ),
  },
  {
    name: 'Knowledge 1:',
    write: (d, q) => [
      user(`Relevant knowledge:\n\n${list(d, (o, i) => `Knowledge ${i}: ${o.text}`)}\n\nQuestion: ${q}`),
    ],
  },
]
