import { drawnByHand } from './drawn-hand.fixture.ts'
import { type Documents, list, type Template, toTemplates } from './template.fixture.ts'

/*
 * Templates that were drawn without a look at the finder's rules: first those of published frameworks, then those that
 * developers write by hand. Forms that they showed to be missed have been added since.
 */

const json = (value: unknown, indent?: number): string => JSON.stringify(value, null, indent)

/** Documents and question in one user message. */
const asked: Readonly<Record<string, (documents: Documents, question: string) => string>> = {
  'LangChain, source ids with article titles': (docs, q) =>
    `You are a helpful assistant. Given a user question and some articles, answer the question and give citations.\n\nHere are the articles:\n\n${list(docs, (d, n) => `Source ID: ${n - 1}\nArticle Title: ${d.title}\nArticle Snippet: ${d.text}`)}\n\nQuestion: ${q}`,
  'LlamaIndex, excerpts from a document': (docs, q) =>
    `Context information is below.\n---------------------\n${list(docs, (d) => `[Excerpt from document]\npage_label: ${d.page}\nfile_name: ${d.file}\nExcerpt:\n-----\n${d.text}\n-----\n`, '\n')}\n---------------------\nGiven the context information and not prior knowledge, answer the query.\nQuery: ${q}\nAnswer: `,
  'deepset, document elements with a reference': (docs, q) =>
    `Answer the user's question from the documents and name the reference in brackets.\n\n${list(docs, (d, n) => `<document reference="${n}">\n${d.text}\n</document>`, '\n')}\n\nQuestion: ${q}\nAnswer:`,
  'Cohere, results with title and text': (docs, q) =>
    `<results>\n${list(docs, (d, n) => `Document: ${n - 1}\ntitle: ${d.title}\nurl: ${d.url}\ntext: ${d.text}`)}\n</results>\n\n${q}`,
  'OpenAI cookbook, results of a vector store': (docs, q) =>
    `Use the sources to answer concisely.\n\n<sources>${list(docs, (d) => `<result file_id='file-${d.id}' file_name='${d.file}'><content>${d.text}</content></result>`, '')}</sources>\n\nQuery: '${q}'`,
  'Elastic, names and passages between rules': (docs, q) =>
    `Use the following passages and chat history to answer the user's question.\nEach passage has a NAME which is the title of the document. After your answer, leave a blank line and then give the names of the passages you answered from.\n\nContext:\n${list(docs, (d) => `---\nNAME: ${d.title}\nPASSAGE:\n${d.text}\n---\n`, '\n')}\n----\nQuestion: ${q}\nResponse:`,
  'MongoDB, title and plot in a line': (docs, q) =>
    `Answer this user query: ${q} with the following context:\n${list(docs, (d) => `Title: ${d.title}, Plot: ${d.text}`, '\n')}\n`,
  'Hugging Face cookbook, three colons': (docs, q) =>
    `Context:\n\nExtracted documents:\n${list(docs, (d, n) => `Document ${n - 1}:::\n${d.text}`, '\n')}\n---\nNow here is the question you need to answer.\n\nQuestion: ${q}`,
  'chatbot-ui, begin and end of a source': (docs, q) =>
    `Please use only the information provided in the following sources if relevant:\n\n${list(docs, (d) => `<BEGIN SOURCE>\n${d.text}\n</END SOURCE>`)}\n\n${q}`,
  'HuggingChat, web sources between rules': (docs, q) =>
    `I searched the web. Here are the results. Cite them with [index].\n=====================\n${list(docs, (d, n) => `Source [${n}]\n${d.text}`, '\n\n----------\n\n')}\n=====================\n\n${q}`,
  'Cody, code base context from files': (docs, q) =>
    `${list(docs, (d) => `Codebase context from file \`${d.file}\`:\n\`\`\`\`md\n${d.text}\n\`\`\`\``)}\n\n${q}`,
  'Copilot Chat, potentially relevant excerpts': (docs, q) =>
    `${list(docs, (d) => `Here is a potentially relevant text excerpt in \`${d.file}\` starting at line ${d.page}:\n\`\`\`\`markdown\n${d.text}\n\`\`\`\``)}\n\n${q}`,
  'ALCE, documents with titles in parentheses': (docs, q) =>
    `Instruction: Write an accurate, engaging, and concise answer for the given question using only the provided search results and cite them properly.\n\nQuestion: ${q}\n\n${list(docs, (d, n) => `Document [${n}](Title: ${d.title}): ${d.text}`, '\n')}\n\nAnswer:`,
  'LongBench, passages': (docs, q) =>
    `Answer the question based on the given passages. Only give me the answer.\n\nThe following are given passages.\n${list(docs, (d, n) => `Passage ${n}:\n${d.title}\n${d.text}`, '\n')}\n\nAnswer the question based on the given passages.\n\nQuestion: ${q}\nAnswer:`,
  'CRAG, references with dashes': (docs, q) =>
    `# References \n${list(docs, (d) => `- ${d.text}`, '\n')}\n\nUsing only the references listed above, answer the following question:\nQuestion: ${q}\n`,
  'DSPy, context in guillemets': (docs, q) =>
    `[[ ## context ## ]]\n${list(docs, (d, n) => `[${n}] «${d.text}»`, '\n')}\n\n[[ ## question ## ]]\n${q}\n\nRespond with the field [[ ## answer ## ]].`,
  'Genkit, information with numbers': (docs, q) =>
    `${q}\n\nUse the following information to complete your task:\n\n${list(docs, (d, n) => `- [${n - 1}]: ${d.text}\n`, '')}\n`,
  'langchainrb, chunks between rules': (docs, q) =>
    `Context:\n${list(docs, (d) => d.text, '\n---\n')}\n---\nQuestion: ${q}\n---\nAnswer:`,
  'rig, attached files with ids': (docs, q) =>
    `<attachments>\n${list(docs, (d) => `<file id: ${d.id}>\n${d.text}\n</file>\n`, '')}</attachments>\n\n${q}`,
  'CAMEL, retrieved context as JSON': (docs, q) =>
    `Original query and retrieved context:\n${json({ 'Original Query': q, 'Retrieved Context': docs.map((d) => ({ 'similarity score': d.score, 'content path': d.file, text: d.text })) }, 4)}\nAnswer the original query based on the retrieved context.`,
  'OpenSearch, search results': (docs, q) =>
    `Generate a concise and informative answer in less than 100 words for the given question.\n${list(docs, (d, n) => `SEARCH RESULT ${n}: ${d.text}`, '\n')}\nQUESTION: ${q}`,
  'Trieve, documents as JSON lines': (docs, q) =>
    `${q}\n\nUse the following retrieved documents and cite them as [^n]:\n\n${list(docs, (d, n) => json({ doc: n, text: d.text, link: d.url }))}`,
  'Open deep research, sources between rules': (docs, q) =>
    `<question>${q}</question>\n\nSearch results: \n\n${list(docs, (d, n) => `\n\n--- SOURCE ${n}: ${d.title} ---\nURL: ${d.url}\n\nSUMMARY:\n${d.text}\n\n\n\n${'-'.repeat(80)}\n`, '')}`,
  'deep-research, content elements': (docs, q) =>
    `Given the following contents from a search for the query <query>${q}</query>, answer it.\n\n<contents>${list(docs, (d) => `<content>\n${d.text}\n</content>`, '\n')}</contents>`,
  'Qwen-Agent, content from files': (docs, q) =>
    `# 知识库\n\n${list(docs, (d) => `## 来自 [文件](${d.file}) 的内容：\n\n\`\`\`\`\n${d.text}\n\`\`\`\``)}\n\n${q}`,
  'WebGLM, references': (docs, q) =>
    `${list(docs, (d, n) => `Reference [${n}]: ${d.text}`, '\n')}\n\nQuestion: ${q}\nAnswer:`,
}

/** Documents in the system prompt, the question after it. */
const told: Readonly<Record<string, (documents: Documents) => string>> = {
  'Agno, references from the knowledge base': (docs) =>
    `You are a helpful agent.\n\nUse the following references from the knowledge base if it helps:\n<references>\n${json(
      docs.map((d) => ({ name: d.file, meta_data: { page: d.page, chunk: 1 }, content: d.text })),
      2,
    )}\n</references>`,
  'Rasa, relevant documents with metadata': (docs) =>
    `Given the following information, please provide an answer based on the provided documents and the context of the recent conversation.\n\n### Relevant Documents\nUse the following documents to answer the question:\n${list(docs, (d) => `*. {'title': '${d.title}', 'source': '${d.file}'}\n${d.text}\n`, '\n')}`,
  'Obsidian, notes as elements': (docs) =>
    `Answer from the user's vault.\n\n<notes>\n${list(docs, (d) => `<note>\n<title>${d.title}</title>\n<path>${d.file}</path>\n<content>\n${d.text}\n</content>\n</note>`, '\n')}\n</notes>`,
}

/** Documents as a tool returns them. */
const returned: Readonly<Record<string, readonly [tool: string, write: (documents: Documents) => string]>> = {
  'LangGraph, metadata as a dict and content': [
    'retrieve',
    (docs) => list(docs, (d) => `Source: {'source': '${d.file}', 'page': ${d.page}}\nContent: ${d.text}`),
  ],
  'Llama Stack, knowledge search': [
    'knowledge_search',
    (docs) =>
      `knowledge_search tool found 5 chunks:\nBEGIN of knowledge_search tool results.\n${list(docs, (d, n) => `Result ${n}\nContent: ${d.text}\nMetadata: {'document_id': '${d.id}', 'source': '${d.file}'}\n`, '\n')}END of knowledge_search tool results.\n`,
  ],
  'smolagents, retriever': [
    'retriever',
    (docs) => `\nRetrieved documents:\n${list(docs, (d, n) => `\n\n===== Document ${n - 1} =====\n${d.text}`, '')}`,
  ],
  'Context7, snippets of code': [
    'get-library-docs',
    (docs) =>
      list(docs, (d) => `TITLE: ${d.title}\nDESCRIPTION: ${d.text}\nSOURCE: ${d.url}`, `\n\n${'-'.repeat(40)}\n\n`),
  ],
  'Firecrawl, search results': [
    'firecrawl_search',
    (docs) => list(docs, (d) => `URL: ${d.url}\nTitle: ${d.title}\nDescription: About it.\n\nContent:\n${d.text}`),
  ],
  'Morphic, results with a query': [
    'search',
    (docs) => json({ results: docs.map((d) => ({ title: d.title, url: d.url, content: d.text })), query: 'places' }),
  ],
  'Mastra, relevant context': [
    'vectorQueryTool',
    (docs) => json({ relevantContext: docs.map((d) => ({ text: d.text, source: d.file, docId: d.id })) }),
  ],
  'Cursor, results of a code base search': [
    'codebase_search',
    (docs) =>
      list(
        docs,
        (d) => `<search_result path="${d.file}" startLine="1" endLine="20">\n${d.text}\n</search_result>`,
        '\n',
      ),
  ],
}

export const drawn: readonly Template[] = [...toTemplates({ asked, told, returned }), ...drawnByHand]
