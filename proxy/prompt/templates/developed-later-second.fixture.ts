import { called, list, system, type Template, user } from './template.fixture.ts'

const flat = (text: string): string => text.replaceAll('\n', ' ')

/** The second half of developed-later.fixture.ts. */
export const secondHalf: readonly Template[] = [
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
