import { type Documents, list, type Template, toTemplates } from './template.fixture.ts'

/*
 * Templates that were written down in one go and measured once, after the forms that earlier sets show to be missed were
 * added. They measure the finder; no rule of it may be made for one of them.
 */

const json = (value: unknown, indent?: number): string => JSON.stringify(value, null, indent)

/** Documents and question in one user message. */
const asked: Readonly<Record<string, (documents: Documents, question: string) => string>> = {
  'headings with address and score': (docs, q) =>
    `Answer the question from the search results below.\n\n${list(docs, (d) => `## ${d.title}\nURL: ${d.url}\nScore: ${d.score}\n\n${d.text}`)}\n\nQuestion: ${q}`,
  'headings with a number and a source line': (docs, q) =>
    `# Retrieved documents\n\n${list(docs, (d, n) => `### Document ${n}\n**Source:** ${d.file}\n\n${d.text}`)}\n\n# Question\n\n${q}`,
  'Langroid, extracts with sources': (docs, q) =>
    `Below are some extracts from documents, followed by a question. Answer it from these extracts.\n\n${list(docs, (d, n) => `[${n}]\nCONTENT: ${d.text}\nSOURCE: ${d.url}`)}\n\nQUESTION: ${q}\nANSWER:`,
  'PrivateGPT, file names as fields': (docs, q) =>
    `Context information is below.\n--------------------\n${list(docs, (d) => `file_name: ${d.file}\npage_label: ${d.page}\n\n${d.text}`)}\n--------------------\nProvide an answer based on the context information: ${q}`,
  'Open WebUI, source elements': (docs, q) =>
    `### Task:\nRespond to the user query using the provided context.\n\n<context>\n${list(docs, (d, n) => `<source id="${n}" name="${d.file}">${d.text}</source>`, '\n')}\n</context>\n\n<user_query>\n${q}\n</user_query>`,
  'Vespa, documents with fields': (docs, q) =>
    `Answer the following question based on the retrieved documents.\n\n${list(docs, (d, n) => `[${n}] {"title": "${d.title}", "relevance": ${d.score}}\n${d.text}`)}\n\nQuestion: ${q}`,
  'R2R, source types in brackets': (docs, q) =>
    `## Task:\nAnswer the query given the context below.\n\n### Query:\n${q}\n\n### Context:\nVector Search Results:\n${list(docs, (d) => `Source ID [${d.id}]:\n${d.text}`, '\n')}\n\n## Response:`,
  'txtai, bare context lines': (docs, q) =>
    `Answer the following question using only the context below.\n\nquestion: ${q}\ncontext: ${list(docs, (d) => d.text, '\n')}`,
  'Onyx, documents with source and date of update': (docs, q) =>
    `Use the documents to answer.\n\nCONTEXT:\n${list(docs, (d, n) => `DOCUMENT ${n}: ${d.title}\nSource: web\n\`\`\`\n${d.text}\n\`\`\``)}\n\nQUESTION: ${q}`,
  'file names in bold and fences': (docs, q) =>
    `Here are the relevant files from the repository:\n\n${list(docs, (d) => `**\`${d.file}\`**\n~~~~\n${d.text}\n~~~~`)}\n\nUser request: ${q}`,
  'begin and end of a chunk': (docs, q) =>
    `Use only these chunks.\n\n${list(docs, (d, n) => `----- BEGIN CHUNK ${n} (${d.file}) -----\n${d.text}\n----- END CHUNK ${n} -----`)}\n\nQ: ${q}\nA:`,
  'dashes with file names': (docs, q) =>
    `Relevant passages:\n\n${list(docs, (d) => `- ${d.file}: ${d.text.replaceAll('\n', '\n  ')}`)}\n\nQuestion: ${q}`,
  'hits with relevance in percent': (docs, q) =>
    `The search found these hits:\n\n${list(docs, (d, n) => `Hit ${n} (${Math.round(d.score * 100)}% relevant, ${d.file})\n${d.text}`)}\n\nAnswer this from the hits: ${q}`,
  'evidence in double brackets': (docs, q) =>
    `Question: ${q}\n\nEvidence:\n${list(docs, (d, n) => `[[${n}]] ${d.text}`)}\n\nWrite an answer and cite evidence as [[n]].`,
  'excerpt lines with quotation marks': (docs, q) =>
    `Relevant excerpts:\n\n${list(docs, (d) => `From ${d.file}, page ${d.page}:\n"""\n${d.text}\n"""`)}\n\n${q}`,
  'elements with url and content inside': (docs, q) =>
    `<search_results>\n${list(docs, (d) => `<item>\n<url>${d.url}</url>\n<content>${d.text}</content>\n</item>`, '\n')}\n</search_results>\n\nUsing the search results, answer: ${q}`,
  'German, passages with file': (docs, q) =>
    `Nutze die folgenden Textstellen.\n\n${list(docs, (d, n) => `Textstelle ${n} aus ${d.file}:\n${d.text}`)}\n\nFrage: ${q}`,
  'Chinese, fragments with source': (docs, q) =>
    `参考以下知识库片段回答问题。\n\n${list(docs, (d, n) => `片段${n}（来源：${d.file}）：\n${d.text}`)}\n\n问题：${q}`,
}

/** Documents in the system prompt, the question after it. */
const told: Readonly<Record<string, (documents: Documents) => string>> = {
  'mem0, memories with dashes': (docs) =>
    `You are a helpful AI. Answer the question based on query and memories.\nUser Memories:\n${list(docs, (d) => `- ${d.text.replaceAll('\n', ' ')}`, '\n')}`,
  'AnythingLLM, contexts with begin and end': (docs) =>
    `Given the following conversation, relevant context, and a follow up question, reply with an answer.\nContext:\n    ${list(docs, (d, n) => `[CONTEXT ${n - 1}]:\n${d.text}\n[END CONTEXT ${n - 1}]\n\n`, '')}`,
  'Zep, facts as elements': (docs) =>
    `You have a memory of the user.\n\n<FACTS>\n${list(docs, (d) => `  - ${d.text.replaceAll('\n', ' ')}`, '\n')}\n</FACTS>`,
}

/** Documents as a tool returns them. */
const returned: Readonly<Record<string, readonly [tool: string, write: (documents: Documents) => string]>> = {
  'file search with scores': [
    'file_search',
    (docs) => list(docs, (d, n) => `[${n - 1}] ${d.file} (score: ${d.score})\n${d.text}`),
  ],
  'Tavily, results as JSON': [
    'tavily_search',
    (docs) =>
      json({
        query: 'places',
        results: docs.map((d) => ({ title: d.title, url: d.url, content: d.text, score: d.score })),
      }),
  ],
  'retriever, passages with page': [
    'search_documents',
    (docs) => list(docs, (d) => `Source: ${d.file}\nPage: ${d.page}\nText: ${d.text}`, '\n\n---\n\n'),
  ],
  'web search, numbered with address': [
    'web_search',
    (docs) => list(docs, (d, n) => `${n}. ${d.title}\n   ${d.url}\n   ${d.text.replaceAll('\n', '\n   ')}`),
  ],
}

export const drawnLater: readonly Template[] = toTemplates({ asked, told, returned })
