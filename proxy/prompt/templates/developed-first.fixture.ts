import { called, list, system, type Template, user } from './template.fixture.ts'

const only = 'Answer only from the context. If it does not hold the answer, say so.'

/** The first half of developed.fixture.ts. */
export const firstHalf: readonly Template[] = [
  {
    name: '<<<DOC 1>>>',
    write: (d, q) => [
      user(`${only}\n\nRetrieved documents:\n\n${list(d, (o, i) => `<<<DOC ${i}>>>\n${o.text}`)}\n\nQuestion: ${q}`),
    ],
  },
  {
    name: '<|doc|>',
    write: (d, q) => [user(`Documents:\n${list(d, (o) => `<|doc|>\n${o.text}`, '\n')}\n\nQuestion: ${q}\nAnswer:`)],
  },
  {
    name: 'YAML of documents',
    write: (d, q) => [
      system(
        `${only}\n\ndocuments:\n${list(d, (o) => `- title: ${o.title}\n  source: ${o.url}\n  content: |\n    ${o.text.replaceAll('\n', '\n    ')}`, '\n')}`,
      ),
      user(q),
    ],
  },
  {
    name: 'repomix',
    write: (d, q) => [
      user(
        `This file is a merged representation of the knowledge base.\n\n${list(d, (o) => `================\nFile: ${o.file}\n================\n${o.text}`)}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: 'gitingest',
    write: (d, q) => [
      user(
        `Context from the repository:\n\n${list(d, (o) => `${'='.repeat(48)}\nFILE: ${o.file}\n${'='.repeat(48)}\n${o.text}`, '\n\n\n')}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: '###PATH:',
    write: (d, q) => [user(`Relevant files:\n\n${list(d, (o) => `###PATH: ${o.file}\n${o.text}`)}\n\nQuestion: ${q}`)],
  },
  {
    name: '### FILE: path',
    write: (d, q) => [
      user(
        `Use these files as context to answer.\n\n${list(d, (o) => `### FILE: ./${o.file}\n${o.text}`)}\n\n## Question\n${q}`,
      ),
    ],
  },
  {
    name: 'Excerpt from [file]',
    write: (d, q) => [
      system(`${only}\n\nContext:\n${list(d, (o) => `Excerpt from [${o.file}]:\n${o.text}`)}`),
      user(q),
    ],
  },
  {
    name: 'Name, Value, Link',
    write: (d, q) => [
      user(
        `${list(d, (o) => `Name: ${o.title}\nValue: ${o.text}\nLink: ${o.url}\n-----------------`, '\n')}\n\n${q}\n\nInclude citations to the relevant information where it is referenced in the response.`,
      ),
    ],
  },
  {
    name: 'snippets with numbers and dots',
    write: (d, q) => [
      user(
        `Here are the relevant snippets:\n\n${list(d, (o, i) => `${i}. ${o.text.replaceAll('\n', ' ')}`, '\n')}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: 'Document <url>',
    write: (d, q) => [user(`Documents:\n\n${list(d, (o) => `Document <${o.url}>\n${o.text}`)}\n\nQuestion: ${q}`)],
  },
  {
    name: '【0†source】',
    write: (d, q) =>
      called(
        'file_search',
        q,
        list(d, (o, i) => `【4:${i - 1}†${o.file}】\n${o.text}`),
      ),
  },
  {
    name: 'Jina triples',
    write: (d, q) =>
      called(
        'web_search',
        q,
        list(
          d,
          (o, i) =>
            `[${i}] Title: ${o.title}\n[${i}] URL Source: ${o.url}\n[${i}] Description: ${o.text.replaceAll('\n', ' ')}`,
        ),
      ),
  },
  {
    name: '--- @path ---',
    write: (d, q) => [
      user(
        `${q}\n\n--- Content from referenced files ---\n\n${list(d, (o) => `Content from @${o.file}:\n${o.text}`)}\n--- End of content ---`,
      ),
    ],
  },
  {
    name: '--- path ---',
    write: (d, q) =>
      called(
        'search_files',
        q,
        list(d, (o) => `--- ${o.file} ---\n\n${o.text}`),
      ),
  },
  {
    name: 'Doc 0 with title and content below',
    write: (d, q) => [
      user(
        `<s>[INST]\nVoici le contexte sur lequel tu dois baser ta réponse :\nContexte: ${list(d, (o, i) => `Doc ${i - 1}:\nTitle: ${o.title}\nContent:\n${o.text}`)}\n        ---\nVoici la question à laquelle tu dois répondre :\nQuestion: ${q}\n[/INST]\n`,
      ),
    ],
  },
  {
    name: 'links with text behind a dash',
    write: (d, q) => [
      system(
        `You are helpful.\n\n[Search Context]\nWeb search results for "${q}":\n${list(d, (o, i) => `${i}. [${o.title}](${o.url}) — ${o.text.replaceAll('\n', ' ')}`, '\n')}`,
      ),
      user(q),
    ],
  },
  {
    name: 'deep Result 1 with fields',
    write: (d, q) =>
      called(
        'web_search',
        q,
        `\n    Top Search Results:\n    ${list(d, (o, i) => `\n            Result ${i}:\n            Title: ${o.title}\n            Link: ${o.url}\n            Snippet: ${o.text.replaceAll('\n', ' ')}\n            `, '\n')}\n    `,
      ),
  },
  {
    name: 'Similarity and Content',
    write: (d, q) => [
      system(`Use this context to answer:\n\n${list(d, (o) => `\nSimilarity: ${o.score}\nContent:\n${o.text}\n  `)}`),
      user(q),
    ],
  },
  {
    name: '[file | page 3]',
    write: (d, q) => [
      user(
        `${only}\n\nContext:\n${list(d, (o) => `[${o.file} | page ${o.page}]\n${o.text}`)}\n\nQuestion:\n${q}\n\nReturn your answer strictly in this format:\n\nAnswer:\n<your clean summarized answer>\n\nSources:\ndoc:page, doc:page\n`,
      ),
    ],
  },
  {
    name: '[S1] file (chunk 3): text',
    write: (d, q) => [
      system('Answer ONLY using the provided SOURCES. Cite them as [S1].'),
      user(
        `SOURCES:\n${list(d, (o, i) => `[S${i}] ${o.file} (chunk ${o.page}): ${o.text.replaceAll('\n', ' ')}`)}\n\nQUESTION: ${q}`,
      ),
    ],
  },
  {
    name: '[Source S1 | page=3]',
    write: (d, q) => [
      user(
        `Context:\n${list(d, (o, i) => `[Source S${i} | page_label=${o.page} | file=${o.file}]\n${o.text}`)}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: 'Chunk 1 (source: a, section: b):',
    write: (d, q) => [
      user(
        `You are an assistant answering based only on the context below.\n\n${list(d, (o, i) => `Chunk ${i} (source: ${o.file}, section: ${o.title}):\n${o.text}\n🔗 [View Source](${o.url})`)}\n\nQuestion:\n${q}\n\nAnswer clearly and concisely. If the context is insufficient, say so explicitly.\n`,
      ),
    ],
  },
  {
    name: '[chunk_abc123] (score: 0.85) text',
    write: (d, q) =>
      called(
        'search_documents',
        q,
        list(d, (o) => `[chunk_${o.id}] (score: ${o.score}) ${o.text}`),
      ),
  },
  {
    name: '知识片段 0：',
    write: (d, q) => [
      user(`根据以下知识回答问题：\n\n${list(d, (o, i) => `知识片段 ${i - 1}：${o.text}`)}\n\n问题：${q}`),
    ],
  },
  {
    name: '--- Source: file ---',
    write: (d, q) => [
      user(`Context:\n${list(d, (o) => `--- Source: ${o.file} ---\n${o.text}`, '\n')}\n---\nQuestion: ${q}`),
    ],
  },
  {
    name: '[A] name (date): "text"',
    write: (d, q) => [
      user(
        `# INSTRUCTIONS\nCite sources using [Source ID] after each claim.\n# CONTEXT DOCUMENTS\n${list(d, (o, i) => `[${'ABCDE'[i - 1]}] ${o.title} (${o.file}):\n"${o.text}"`, '\n')}\n# USER QUESTION\n${q}`,
      ),
    ],
  },
  {
    name: 'rules in front of each',
    write: (d, q) => [
      user(
        `Instructions: Use the following unique documents in the Context section to answer the Query at the end. If you don't know the answer, just say that you don't know.\nContext:\n${list(d, (o) => `---\n${o.text}`, '\n')}\n---\nQuery: ${q}`,
      ),
    ],
  },
  {
    name: 'url : title',
    write: (d, q) => [
      user(
        `Utilisez les éléments de contexte à votre disposition ci-dessous pour répondre à la question finale.\n\n${list(d, (o) => `${o.url} : ${o.title}\n${o.text}`)}\n\nQuestion: ${q}`,
      ),
    ],
  },
  {
    name: '[Document] … [End]',
    write: (d, q) => [user(`${list(d, (o) => `[Document]\n${o.text}\n[End]`, '\n')}\n\n${q}`)],
  },
  {
    name: 'Passage: text',
    write: (d, q) => [
      system(`Use the following retrieved passages.\n\n${list(d, (o) => `Passage: ${o.text}`, '\n')}`),
      user(q),
    ],
  },
  {
    name: '[[citation:1]]',
    write: (d, q) => [
      system(
        `You are given a set of related contexts to the question, each starting with a reference number like [[citation:x]]. Please use the context and cite it.\n\nHere are the set of contexts:\n\n${list(d, (o, i) => `[[citation:${i}]] ${o.text}`)}\n\nRemember, don't blindly repeat the contexts verbatim. And here is the user question:\n`,
      ),
      user(q),
    ],
  },
  {
    name: 'Collection, Path, Excerpt',
    write: (d, q) => [
      user(`### Context:\n${list(d, (o) => `Collection: Notes\nPath: ${o.file}\nExcerpt: ${o.text}`)}\n\n${q}`),
    ],
  },
  {
    name: 'Citation 1: "text"',
    write: (d, q) => [
      user(
        `The following citations were found in the files provided by the user:\n\n${list(d, (o, i) => `Citation ${i}: "${o.text}"`)}\n\nUse the citations above to respond to the user query, only if they are relevant. Otherwise, respond to the best of your ability without them.\n\nUser Query:\n\n${q}`,
      ),
    ],
  },
]
