import type { Message } from '../../reuse/sender.fixture.ts'
import type { Document, Template } from './template.fixture.ts'

/* Templates that were drawn without a look at the finder; no rule of it may be made for one of them. */

type Documents = readonly Document[]

function list(documents: Documents, write: (document: Document, number: number) => string, between = '\n\n'): string {
  return documents.map((document, i) => write(document, i + 1)).join(between)
}

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ')
const json = (value: unknown, indent?: number): string => JSON.stringify(value, null, indent)
const rule = (length: number, sign = '-'): string => sign.repeat(length)

/** Documents and question in one user message. */
const asked: Readonly<Record<string, (documents: Documents, question: string) => string>> = {
  'LangChain, question answering with sources': (docs, q) =>
    `Write the final answer from the extracts below and end it with the sources you used.\n\nQUESTION: ${q}\n=========\n${list(docs, (d) => `Content: ${d.text}\nSource: ${d.file}`)}\n=========\nFINAL ANSWER:`,
  'LangChain, source above each text': (docs, q) =>
    `Use nothing but this context.\n\nContext:\n${list(docs, (d) => `Source: ${d.file}\n${d.text}`)}\n\nQuestion: ${q}`,
  'LangChain, source and page, rules between': (docs, q) =>
    `Answer from the manuals.\n\n${list(docs, (d) => `Source: ${d.file} | Page: ${d.page}\n\n${d.text}`, '\n\n---\n\n')}\n\nQuestion: ${q}`,
  'LangChain, documents printed with long rules': (docs, q) =>
    `Documents:\n\n${list(docs, (d, n) => `Document ${n}:\n\n${d.text}`, `\n${rule(100)}\n`)}\n\nUser question: ${q}`,
  'LlamaIndex, default synthesizer with metadata': (docs, q) =>
    `Context information is below.\n${rule(21)}\n${list(docs, (d) => `page_label: ${d.page}\nfile_path: ${d.file}\n\n${d.text}`)}\n${rule(21)}\nKeep to the context and do not use what you knew before.\nQuery: ${q}\nAnswer: `,
  'LlamaIndex, citation engine': (docs, q) =>
    `Answer from the numbered sources and cite them like [2]. Now it is your turn.\n${rule(6)}\n${list(docs, (d, n) => `Source ${n}:\n${d.text}\n`, '\n')}\n${rule(6)}\nQuery: ${q}\nAnswer: `,
  'Haystack, list with dashes': (docs, q) =>
    `Runbook documents:\n${list(docs, (d) => `- ${d.text}`, '\n')}\nQuestion: ${q}`,
  'deepset, default pipeline template': (docs, q) =>
    `You answer technical questions from documents.\nThese are the documents:\n${list(docs, (d, n) => `Document[${n}]:\n${d.text}`, '\n')}\n\nQuestion: ${q}\nAnswer:`,
  'Haystack, content and URL': (docs, q) =>
    `Given these pages, reply to the query.\n\n${list(docs, (d) => `Document:\n  Content: ${d.text}\n  URL: ${d.url}`, '\n')}\n\nQuery: ${q}`,
  'FastGPT, cites with rules': (docs, q) =>
    `## 任务\n你可以参考 <Cites></Cites> 里的资料回答。\n\n<Cites>\n${list(docs, (d) => json({ id: `67e5${d.id}`, sourceName: d.file, updateTime: '2025-03-01', content: d.text }, 2), '\n------\n')}\n</Cites>\n\n## 用户问题\n"""${q}"""`,
  'Open WebUI, source tags': (docs, q) =>
    `### Task:\nReply to the query with the context and cite ids such as [1].\n\n<context>\n${list(docs, (d, n) => `<source id="${n}" name="${d.file}">${d.text}</source>`, '\n')}\n</context>\n\n${q}`,
  'Open WebUI, source_id and source_context': (docs, q) =>
    `### Task:\nReply from the context.\n\n<context>\n${list(docs, (d) => `<source><source_id>${d.file}</source_id><source_context>${d.text}</source_context></source>`, '\n')}\n</context>\n\n<user_query>\n${q}\n</user_query>`,
  'Khoj, notes': (docs, q) =>
    `My notes may help you. Ask if they do not suffice.\n\nNotes:\n${list(docs, (d) => `# File: ${d.file}\n## ${d.text}\n`)}\n\nQuery: ${q}`,
  'Onyx, documents in code blocks': (docs, q) =>
    `CONTEXT:\n${list(docs, (d, n) => `DOCUMENT ${n}: ${d.title}\nSource: Web\nUpdated: March 02, 2025 10:00 AM\n\`\`\`\n${d.text}\n\`\`\``, '\n\n\n')}\n\nTask: keep to the documents above.\n\nQUERY:\n${q}`,
  'Quivr, file name and index': (docs, q) =>
    `Context:\n${list(docs, (d, n) => `Filename: ${d.file}\nSource: ${n} \n ${d.text}`)}\n\nUser Question: ${q}\nAnswer:`,
  'Weaviate, grouped task': (docs, q) => `${q}:\n${json(docs.map((d) => ({ title: d.title, body: d.text })))}`,
  'Azure AI Search, RAG sample': (docs, q) =>
    `${q}\n\nSources:\n${list(docs, (d) => `${d.file}#page=${d.page}: ${oneLine(d.text)}`, '\n')}`,
  'Azure OpenAI, retrieved documents': (docs, q) =>
    `## Retrieved Documents\n${json({ retrieved_documents: docs.map((d, i) => ({ [`[doc${i + 1}]`]: { content: d.text } })) })}\n\n## User Question\n${q}`,
  'Amazon Bedrock, knowledge base': (docs, q) =>
    `Here are the search results in numbered order:\n<search_results>\n${list(docs, (d, n) => `<search_result>\n<content>\n${d.text}\n</content>\n<source>\n${n}\n</source>\n</search_result>`, '\n')}\n</search_results>\n\nHere is the question:\n<question>\n${q}\n</question>`,
  'Amazon Kendra, title and excerpt': (docs, q) =>
    `Human: Here are some passages.\n<documents>\n${list(docs, (d) => `Document Title: ${d.title}\nDocument Excerpt: \n${d.text}\n`)}\n</documents>\nReply in detail, or say that you do not know: ${q}`,
  'Anthropic, long context': (docs, q) =>
    `<documents>\n${list(docs, (d, n) => `  <document index="${n}">\n    <source>${d.file}</source>\n    <document_content>\n${d.text}\n    </document_content>\n  </document>`, '\n')}\n</documents>\n\n${q}`,
  'Anthropic cookbook, search results': (docs, q) =>
    `<search_results>\n${list(docs, (d, n) => `<item index="${n}">\n<page_content>\n${d.text}\n</page_content>\n</item>`, '\n')}\n</search_results>\n\nUsing them, answer: ${q}`,
  'OpenAI cookbook, article sections': (docs, q) =>
    `Use the articles below. If they hold no answer, write "No answer."${list(docs, (d) => `\n\nWikipedia article section:\n"""\n${d.text}\n"""`, '')}\n\nQuestion: ${q}`,
  'Supabase, context sections': (docs, q) =>
    `You love to help with our docs. Reply in markdown.\n\nContext sections:\n${list(docs, (d) => `${d.text}\n---\n`, '')}\n\nQuestion: """\n${q}\n"""`,
  'DeepSeek, web pages': (docs, q) =>
    `# The following are search results for the message of the user:\n${list(docs, (d, n) => `[webpage ${n} begin]\n${d.text}\n[webpage ${n} end]`, '\n')}\nCite them as [citation:3]. Today is 2025-03-01.\n# The message of the user:\n${q}`,
  'GPT Researcher, sources': (docs, q) =>
    `Information: "${list(docs, (d) => `Source: ${d.url}\nTitle: ${d.title}\nContent: ${d.text}\n`, '\n')}"\n---\nUsing this, answer the following in a detailed report: "${q}"`,
  'Local deep researcher, full sources': (docs, q) =>
    `<Context>\nSources:\n\n${list(docs, (d) => `Source: ${d.title}\n===\nURL: ${d.url}\n===\nFull source content limited to 1000 tokens: ${d.text}`)}\n</Context>\n\nSummarise for this topic: ${q}`,
  'STORM, numbered snippets': (docs, q) =>
    `Question:\n${q}\n\nGathered information:\n${list(docs, (d, n) => `[${n}]\n${d.text}`)}\n\nNow give your response with inline citations.`,
  'Cline, mentioned files': (docs, q) =>
    `<task>\n${q}\n</task>\n\n${list(docs, (d) => `<file_content path="${d.file}">\n${d.text}\n</file_content>`)}`,
  'Continue, code blocks with paths': (docs, q) =>
    `${list(docs, (d) => `\`\`\`md ${d.file} (1-40)\n${d.text}\n\`\`\``)}\n\nUse the above files to answer: ${q}`,
  'LangChain4j, content with metadata': (docs, q) =>
    `${q}\n\nAnswer using the following information:\n${list(docs, (d) => `content: ${d.text}\nfile_name: ${d.file}`)}`,
  'Semantic Kernel, text search': (docs, q) =>
    `${list(docs, (d) => `Name: ${d.title}\nValue: ${d.text}\nLink: ${d.url}\n${rule(17)}`, '\n')}\n\n${q}\n\nCite the links where you use them.`,
  'GPT4All, LocalDocs': (docs, q) =>
    `### Context:\n${list(docs, (d) => `Collection: notes\nPath: ${d.file}\nExcerpt: ${d.text}`)}\n\n${q}`,
  'Cherry Studio, references as JSON': (docs, q) =>
    `Cite with [^1] where needed.\n\n## My question is:\n\n${q}\n\n## Reference Materials:\n\n\`\`\`json\n${json(
      docs.map((d, i) => ({ id: i + 1, content: d.text, sourceUrl: d.url, type: 'file' })),
      2,
    )}\n\`\`\``,
  'Tutorial, documents numbered': (docs, q) =>
    `Answer from these documents:\n\n${list(docs, (d, n) => `Document ${n}:\n${d.text}`)}\n\nQuestion: ${q}\nAnswer:`,
  'Tutorial, bracketed numbers': (docs, q) =>
    `Context:\n${list(docs, (d, n) => `[${n}] ${d.text}`)}\n\nQuestion: ${q}\n\nCite like [1].`,
  'Tutorial, source with file and page': (docs, q) =>
    `Context:\n\n${list(docs, (d, n) => `[Source ${n}: ${d.file}, Page ${d.page}]\n${d.text}`)}\n\nQuestion: ${q}`,
  'Tutorial, source headings': (docs, q) =>
    `## Research Context\n\n${list(docs, (d, n) => `### Source ${n}: ${d.title}\n**Relevance Score**: ${d.score}\n**Content**: ${d.text}\n`, '\n')}\n## Question\n${q}`,
  'Tutorial, passages with similarity': (docs, q) =>
    `### CONTEXT\n${list(docs, (d, n) => `[Passage ${n} [relevance: ${d.score}]]\n${d.text}`, '\n\n---\n\n')}\n\n### INSTRUCTION:\n${q}`,
  'Tutorial, dashes around the number': (docs, q) =>
    `LEGAL DOCUMENTS:\n${list(docs, (d, n) => `\n--- Document ${n} ---\n${d.text}\n`, '')}\nQUESTION: ${q}`,
  'Tutorial, chunk of a file': (docs, q) =>
    `Context:\n${list(docs, (d, n) => `Chunk ${n} from '${d.file}' (Page ${d.page}):\n${d.text}`)}\n\nQuestion: ${q}`,
  'GitHub chat, files under headings': (docs, q) =>
    `Explain this codebase to a newcomer.\n\nCODEBASE:\n${list(docs, (d) => `\n\n### ${d.file}\n${d.text}`, '')}\n\nQUESTION: ${q}`,
  'Chinese tutorial, reference with metadata': (docs, q) =>
    `请根据参考资料总结并回答。\n\n${list(docs, (d, n) => `【参考资料${n}】：参考资料：${d.text} | 参考元数据：{'source': '${d.file}'}\n`, '')}\n用户提问：${q}`,
  'Chinese tutorial, bracketed documents': (docs, q) =>
    `请严格根据以下参考文档回答。\n\n${list(docs, (d, n) => `[参考文档 ${n}]\n${d.text}`)}\n\n用户问题：${q}\n\n回答：`,
  'MaxKB, data with titles': (docs, q) =>
    `已知信息：<data>${list(docs, (d) => `${d.title}:${d.text}`, '\n')}</data>\n问题：${q}\n请用中文回答。`,
  'Japanese tutorial, reference brackets': (docs, q) =>
    `以下の参考資料に基づいて質問に答えてください。\n\n${list(docs, (d, n) => `【参考資料${n}】\n${d.text}`)}\n\n質問: ${q}`,
  'Korean tutorial, documents with source': (docs, q) =>
    `다음 문서를 참고하여 답하세요.\n\n참고 문서:\n${list(docs, (d, n) => `[문서 ${n}] (출처: ${d.file}, 페이지: ${d.page})\n${d.text}`)}\n\n질문: ${q}`,
  'German app, numbered documents': (docs, q) =>
    `Frage: ${q}\n\nKontext-Dokumente:\n${list(docs, (d, n) => `[Dokument ${n}]\n${d.text}\n\n`, '')}\nAntworte nur aus diesen Dokumenten.`,
  'French app, extracts': (docs, q) =>
    `Voici des extraits de notre base :\n\n${list(docs, (d, n) => `Extrait ${n} (${d.title}) :\n${d.text}`)}\n\nQuestion : ${q}\nRéponse :`,
}

/** Documents in the system message, the question in the user's. */
const told: Readonly<Record<string, (documents: Documents) => string>> = {
  'Chat LangChain and Flowise, doc tags': (docs) =>
    `Solve the problem with the search results below.\n\n<context>\n${list(docs, (d, n) => `<doc id='${n - 1}'>${d.text}</doc>`, '\n')}\n</context>\n\nSay so if you are unsure.`,
  'RAGFlow, trees': (docs) =>
    `You are a careful assistant. Here is the knowledge base:\n${list(docs, (d, n) => `\nID: ${n - 1}\n├── Title: ${d.file}\n└── Content:\n${d.text}`, '\n')}\nThe above is the knowledge base.`,
  'AnythingLLM, context numbers': (docs) =>
    `Reply to the prompt below from the context.\nContext:\n${list(docs, (d, n) => `[CONTEXT ${n - 1}]:\n${d.text}\n[END CONTEXT ${n - 1}]\n\n`, '')}`,
  'LibreChat, context items of a file': (docs) =>
    `The user attached files. Use what is fetched from them.\n<files>\n<file>\n<filename>handbook.pdf</filename>\n<context>${list(docs, (d) => `\n<contextItem>\n<![CDATA[${d.text}]]>\n</contextItem>`, '')}\n</context>\n</file>\n</files>`,
  'Canopy, snippets': (docs) =>
    `Use the context, and nothing else.\n\nContext: ${json([{ query: 'opening hours', snippets: docs.map((d) => ({ source: d.url, text: d.text })) }])}`,
  'Perplexica, numbered results': (docs) =>
    `You write cited answers.\n\n<context>\n${list(docs, (d, n) => `${n}. ${d.title} ${d.text}`, '\n')}\n</context>\n\nThe date is 2025-03-01.`,
  'Lepton search, citation marks': (docs) =>
    `Write a clean answer with [citation:x] marks.\n\nHere are the set of contexts:\n\n${list(docs, (d, n) => `[[citation:${n}]] ${d.text}`)}\n\nAnd here is the question:`,
  'mem0, memories': (docs) =>
    `Use the question and these memories.\nUser Memories:\n${list(docs, (d) => `- ${d.text}`, '\n')}`,
  'LobeChat, retrieved chunks': (docs) =>
    `<knowledge_base_qa_info>\n<retrieved_chunks>\n${list(docs, (d) => `<chunk fileId="${d.id}" fileName="${d.file}" similarity="${d.score}">${d.text}</chunk>`, '\n')}\n</retrieved_chunks>\n</knowledge_base_qa_info>`,
  'LightRAG, document chunks': (docs) =>
    `---Data Sources---\n\n-----Document Chunks(DC)-----\n\n\`\`\`json\n${json(docs.map((d, i) => ({ id: i + 1, content: d.text, file_path: d.file })))}\n\`\`\``,
  'GraphRAG, table of sources': (docs) =>
    `---Data tables---\n\n-----Sources-----\nid|text\n${list(docs, (d, n) => `${n}|${oneLine(d.text)}`, '\n')}\n\nAnswer in paragraphs.`,
  'Russian app, numbered sources': (docs) =>
    `Отвечай только по источникам.\n\nКонтекст:\n${list(docs, (d, n) => `[Источник ${n}]\n${d.text}`)}`,
  'Spanish app, source by file': (docs) =>
    `Responde solo con el contexto.\n\nContexto:\n${list(docs, (d) => `[Fuente: ${d.file}]\n${d.text}`, '\n\n---\n\n')}`,
  'Vietnamese app, source and kind': (docs) =>
    `Chỉ trả lời theo tài liệu.\n\n${list(docs, (d, n) => `[Document ${n} | Nguồn: ${d.file} | Loại: luật]\n${d.text}\n`, '\n---\n')}`,
}

/** Documents as the result of a tool. */
const found: Readonly<Record<string, (documents: Documents, question: string) => string>> = {
  'LangChain, agent with a retrieve tool': (docs) =>
    list(docs, (d) => `Source: {'source': '${d.url}', 'start_index': ${d.page * 412}}\nContent: ${d.text}`),
  'LangChain Academy, Document tags': (docs) =>
    list(docs, (d) => `<Document source="${d.url}" page="${d.page}"/>\n${d.text}\n</Document>`, '\n\n---\n\n'),
  'LibreChat, file search': (docs) =>
    list(docs, (d) => `File: ${d.file}\nRelevance: ${d.score}\nContent: ${d.text}\n`, '\n---\n'),
  'Onyx, internal search as JSON': (docs) =>
    json(
      { results: docs.map((d, i) => ({ document: i + 1, title: d.title, source_type: 'web', content: d.text })) },
      2,
    ),
  'n8n, vector store as a tool': (docs) =>
    json(docs.map((d) => ({ type: 'text', text: json({ pageContent: d.text, metadata: { source: d.file } }) }))),
  'Roo Code, codebase search': (docs, q) =>
    `Query: ${q}\nResults:\n\n${list(docs, (d) => `File path: ${d.file}\nScore: ${d.score}\nLines: ${d.page}-${d.page + 20}\nCode Chunk: ${d.text}\n`, '\n')}`,
  'Vercel AI SDK, similar content': (docs) => json(docs.map((d) => ({ name: d.text, similarity: d.score }))),
  'Tavily API': (docs, q) =>
    json({ query: q, results: docs.map((d) => ({ title: d.title, url: d.url, content: d.text, score: d.score })) }),
  'Tavily MCP server': (docs) =>
    `Detailed Results:\n${list(docs, (d) => `\nTitle: ${d.title}\nURL: ${d.url}\nContent: ${d.text}`, '\n')}`,
  'Serper, organic results': (docs) =>
    json({ organic: docs.map((d, i) => ({ title: d.title, link: d.url, snippet: d.text, position: i + 1 })) }),
  'Brave MCP server': (docs) => list(docs, (d) => `Title: ${d.title}\nDescription: ${d.text}\nURL: ${d.url}`),
  'Exa MCP server': (docs) =>
    list(docs, (d) => `Title: ${d.title}\nAuthor: \nPublished Date: 2025-03-01\nURL: ${d.url}\nText: ${d.text}`),
  'Jina search': (docs) =>
    list(docs, (d, n) => `[${n}] Title: ${d.title}\n[${n}] URL Source: ${d.url}\n[${n}] Description: ${d.text}`),
  'DuckDuckGo MCP server': (docs) =>
    `Found ${docs.length} search results:\n\n${list(docs, (d, n) => `${n}. ${d.title}\n   URL: ${d.url}\n   Summary: ${d.text}\n`, '\n')}`,
  'smolagents, web search': (docs) => `## Search Results\n\n${list(docs, (d) => `[${d.title}](${d.url})\n${d.text}`)}`,
  'Wikipedia tool': (docs) => list(docs, (d) => `Page: ${d.title}\nSummary: ${d.text}`),
  'CrewAI, Serper tool': (docs) =>
    `\nSearch results: ${list(docs, (d) => `Title: ${d.title}\nLink: ${d.url}\nSnippet: ${d.text}\n---`, '\n')}\n`,
}

function callAndResult(question: string, result: string): Message[] {
  const call = { id: 'call_7', type: 'function', function: { name: 'search', arguments: json({ query: question }) } }
  return [
    { role: 'system', content: 'You are a helpful assistant with a search tool.' },
    { role: 'user', content: question },
    { role: 'assistant', content: null, tool_calls: [call] } as Message,
    { role: 'tool', tool_call_id: 'call_7', content: result } as Message,
  ]
}

/** The blind set, drawn by how common a form is. */
export const blind: readonly Template[] = [
  ...Object.entries(asked).map(([name, write]) => ({
    name,
    write: (docs: Documents, question: string): Message[] => [{ role: 'user', content: write(docs, question) }],
  })),
  ...Object.entries(told).map(([name, write]) => ({
    name,
    write: (docs: Documents, question: string): Message[] => [
      { role: 'system', content: write(docs) },
      { role: 'user', content: question },
    ],
  })),
  ...Object.entries(found).map(([name, write]) => ({
    name,
    write: (docs: Documents, question: string): Message[] => callAndResult(question, write(docs, question)),
  })),
]
