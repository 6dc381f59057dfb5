import { called, list, system, type Template, user } from './template.fixture.ts'

/* Templates to look at when the finder is mended: those in held-out.fixture.ts say how it does on others. */

const only = 'Answer only from the context. If it does not hold the answer, say so.'

export const developed: readonly Template[] = [
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
