import { type Documents, list, system, type Template, toTemplates, user } from '../template.fixture.ts'

/*
 * Default prompts of projects that many people use, no two of one project, drawn without a look at the finder. Their
 * marks are exact, their sentences reworded. The finder was developed with some of them since.
 */

type Message = ReturnType<typeof user>
type Chat = (documents: Documents, question: string) => Message[]
const assistant = (content: string): Message => ({ role: 'assistant', content }) as Message
const json = (value: unknown, indent?: number): string => JSON.stringify(value, null, indent)
const flat = (text: string): string => text.split(/\s+/).join(' ').trim()
/** JSON as Python's json.dumps writes it. */
const dumps = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(dumps).join(', ')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const fields = Object.entries(value).map(([key, field]) => `${JSON.stringify(key)}: ${dumps(field)}`)
  return `{${fields.join(', ')}}`
}
/** A string as Python's repr writes it. */
const repr = (text: string): string => {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  const body = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
  return quote + (quote === "'" ? body.replaceAll("'", "\\'") : body) + quote
}

const asked: Readonly<Record<string, (documents: Documents, question: string) => string>> = {
  // castorini/ragnarok src/ragnarok/generate/gpt.py, templates/ragnarok_templates.py (its system message is left out)
  'ragnarok documents': (docs, q) =>
    `Instruction: Answer the question fully, citing the documents by their numbers in brackets.\n\nDocuments: ${list(docs, (d, n) => `[${n}] Title: ${d.title} Content: ${flat(d.text)}`)}\n\nQuery: ${q}\n\nInstruction: Answer the question fully, citing the documents by their numbers in brackets.\n\nAnswer:`,
  // google-gemini/gemini-fullstack-langgraph-quickstart backend/src/agent/{prompts,graph}.py (finalize_answer)
  'gemini fullstack summaries': (docs, q) =>
    `Write a high-quality answer to the user's question from the summaries provided.\n\nInstructions:\n- The current date is November 26, 2026.\n- Keep the citation markers of the sources.\n\nUser Context:\n- ${q}\n\nSummaries:\n${list(docs, (d) => d.text, '\n---\n\n')}`,
  // agiresearch/A-mem agentic_memory/memory_system.py (find_related_memories_raw); the question as in the paper's tests
  'a-mem talk start time': (docs, q) =>
    `Based on the context: ${list(docs, (d) => `talk start time:20230508${1000 + d.page}\tmemory content: ${d.text}\tmemory context: ${d.title}\tmemory keywords: ['${d.id}']\tmemory tags: ['place']\n`, '')}, write a short phrase as the answer to the following question. Use exact words of the context where possible.\n\nQuestion: ${q} Short answer:\n`,
  // topoteretes/cognee cognee/modules/graph/utils/resolve_edges_to_text.py, prompts/graph_context_for_question.txt
  'cognee nodes': (docs, q) =>
    `The question is: \`${q}\`\nand here is the context, a set of relationships of a knowledge graph separated by \\n---\\n, each a node1 -- relation -- node2 triplet: \`Nodes:\n${list(docs, (d) => `Node: ${d.title}\n__node_content_start__\n${d.text}\n__node_content_end__\n`, '\n')}\n\nConnections:\n${docs
      .map((d) => `${d.title} --[is_part_of]--> places`)
      .sort()
      .join('\n')}\`\n`,
  // GaiZhenbiao/ChuanhuChatGPT modules/utils.py (add_source_numbers), modules/presets.py (PROMPT_TEMPLATE)
  'chuanhu quoted sources': (docs, q) =>
    `Context information is below.\n---------------------\n${list(docs, (d, n) => `[${n}]\t "${d.text}"\nSource: ${d.file}`)}\n---------------------\nCurrent date: 2026-11-26.\nWith the context information provided, write a comprehensive reply to the query.\nCite results with [number] after the reference.\nUse prior knowledge only if the context is not enough.\nQuery: ${q}\nReply in English\n`,
  // OpenAutoCoder/Agentless agentless/repair/repair.py (repair_prompt_combine_topn, construct_topn_file_context)
  'agentless files': (docs, q) =>
    `We are solving the following issue within our repository. Here is its text:\n--- BEGIN ISSUE ---\n${q}\n--- END ISSUE ---\n\n\nBelow are some code segments, each from a relevant file. One or more of them may contain bugs.\n\n--- BEGIN FILE ---\n\`\`\`\n${list(docs, (d) => `### ${d.file}\n${d.text}\n\n\n`, '').trimEnd()}\n\`\`\`\n--- END FILE ---\n\nPlease first localize the bug based on the issue, then write SEARCH/REPLACE edits.`,
  // pathwaycom/pathway python/pathway/xpacks/llm/prompts.py (prompt_qa_geometric_rag)
  'pathway sources': (docs, q) =>
    `\n        Use the below articles to answer the question that follows. If the answer is not in the articles, write "No information found." Do not answer in full sentences.\n        Cite the sources with their corresponding numbers. For example:\n        "Source 1:\n        The sky is red in the evening.\n        Source 2:\n        Water is wet when the sky is red.\n\n        Query: When is water wet?\n        Answer: When the sky is red [2]."\n         Now it's your turn. \n------\n${list(docs, (d, n) => `Source ${n}: ${d.text}`, '\n')}\n------\nQuery: ${q}\nAnswer:`,
  // microsoft/semantic-kernel dotnet/samples/GettingStartedWithTextSearch/Step2_Search_For_RAG.cs
  'semantic kernel name value link': (docs, q) =>
    `${list(docs, (d) => `    Name: ${d.title}\n    Value: ${d.text}\n    Link: ${d.url}\n    -----------------\n`, '')}\n${q}\n\nInclude citations to the relevant information where the response refers to it.`,
  // 0xPlaygrounds/rig rig-core/src/completion/request.rs (Display for Document, prompt_with_context)
  'rig attachments': (docs, q) =>
    `<attachments>\n${list(docs, (d) => `<file id: ${d.id}>\n${d.text}\n</file>\n`, '')}</attachments>\n\n${q}`,
  // patterns-ai-core/langchainrb lib/langchain/vectorsearch/base.rb (generate_prompt), ask of its stores
  'langchainrb context': (docs, q) =>
    `Context:\n${list(docs, (d) => d.text, '\n---\n')}\n---\nQuestion: ${q}\n---\nAnswer:`,
  // Snowflake-Labs/sfguide cortex search chatbot (query_cortex_search_service, create_prompt)
  'cortex context document': (docs, q) =>
    `\n            [INST]\n            You are a helpful AI chat assistant with RAG capabilities. When a user asks you a question, you also get context between <context> and </context> tags. Answer from that context and the chat history.\n\n            <chat_history>\n            \n            </chat_history>\n            <context>\n            ${list(docs, (d, n) => `Context document ${n}: ${d.text} \n\n`, '')}\n            </context>\n            <question>\n            ${q}\n            </question>\n            [/INST]\n            Answer:\n            `,
  // ShishirPatil/gorilla raft/raft.py (add_chunk_to_dataset)
  'raft document tags': (docs, q) => `${list(docs, (d) => `<DOCUMENT>${d.text}</DOCUMENT>\n`, '')}${q}`,
  // embedchain/embedchain embedchain/llm/base.py (generate_prompt), config/llm/base.py (DEFAULT_PROMPT)
  'embedchain bars': (docs, q) =>
    `\n  Use the following pieces of context to answer the query at the end.\n  If you don't know the answer, say that you don't know; do not make one up.\n\n  ${list(docs, (d) => d.text, ' | ')}\n\n  Query: ${q}\n\n  Helpful Answer:\n`,
  // langchain-ai/local-deep-researcher src/ollama_deep_researcher/{utils,graph}.py
  'local deep researcher sources': (docs, q) =>
    `<Context> \n Sources:\n\n${list(docs, (d) => `Source: ${d.title}\n===\nURL: ${d.url}\n===\nMost relevant content from source: ${d.text}\n===\n`, '').trim()} \n <Context>Create a Summary using the Context on this topic: \n <User Input> \n ${q} \n <User Input>\n\n`,
  // NirDiamant/RAG_Techniques helper_functions.py (retrieve_context_per_question gives a list, written by str)
  'rag techniques python list': (docs, q) =>
    ` \n    For the question below, give a concise but sufficient answer based ONLY on the provided context:\n    [${list(docs, (d) => repr(d.text), ', ')}]\n    Question\n    ${q}\n    `,
  // shibing624/ChatPDF rag.py (_add_source_numbers, predict; the sentences of PROMPT_TEMPLATE are from memory)
  'chatpdf chinese quoted numbers': (docs, q) =>
    `基于以下已知信息，专业地回答用户的问题。\n如果无法从中得到答案，请说 "没有提供足够的相关信息"，答案请使用中文。\n\n已知内容:\n${list(docs, (d, n) => `[${n}]\t "${d.text}"`, '\n')}\n\n问题:\n${q}\n`,
  // etalab-ia/franceservices-backend pyalbert/prompt/templates/rag_prompt_template.jinja (French)
  'albert french sheets': (docs, q) =>
    `Utilisez le contexte suivant comme base de connaissances, à l'intérieur des balises XML <context></context>.\nLors de la réponse :\n- Si vous n'êtes pas sûr, demandez une clarification.\n\n<context>\n${docs
      .map((d, i) => `\nurl: ${d.url}\ntitle: ${d.title} \ntext: ${d.text} ${i < docs.length - 1 ? '\n' : ''}\n`)
      .join('')}\n</context>\n\nÉtant donné les sources du contexte, répondez à la question.\nQuestion : ${q}\n\n`,
  // aws-samples/jp-rag-sample amplify/backend/api/fargate/src/langchain/app/chain/claude_bedrock.py (Japanese)
  'jp-rag-sample japanese': (docs, q) =>
    `Human: 資料:\n${list(docs, (d, n) => `[${n - 1}]${d.title}\n${d.text}\n`, '')}\n上記の資料をもとに質問に回答しなさい。[0]の形式で参考にした資料を示しなさい。資料がないものは「わかりません」と答えなさい。\n質問: \n${q}\n\nAssistant:`,
  // InternLM/MindSearch mindsearch/agent/{mindsearch_prompt,mindsearch_agent}.py (Chinese; answers of parent nodes)
  'mindsearch chinese history': (docs, q) =>
    `${list(docs, (d) => `## 历史问题\n${d.title}\n回答：${d.text}\n`, '\n')}\n## 主问题\n${q}\n## 当前问题\n${q}\n`,
}

const told: Readonly<Record<string, (documents: Documents) => string>> = {
  // wandb/wandbot src/wandbot/chat/response_synthesis.py, src/wandbot/retriever/fusion.py (combine_documents)
  'wandbot source fields': (docs) =>
    `As Wandbot, a support expert, give truthful answers with only the provided documentation snippets.\n\n**Citation**\n- Always cite the source from the provided context.\n\n <!--start-context-information-->\n \n ${list(docs, (d) => `source: ${d.url}\nsource_type: documentation\nhas_code: False\n\n${d.text}`, '\n\n---\n\n')}\n \n <!--end-context-information-->\n`,
  // Nutlope/turboseek app/api/getAnswer/route.ts (an array in a template literal: commas between)
  'turboseek citations': (docs) =>
    `\n  Given a user question and some context, write a clean and accurate answer based on the context. You get a set of related contexts, each starting with a reference number like [[citation:x]].\n\n  Here are the set of contexts:\n\n  <contexts>\n  ${docs.map((d, i) => `[[citation:${i}]] ${d.text} \n\n`)}\n  </contexts>\n\n  Don't repeat the contexts verbatim. Here is the user question:\n    `,
  // MemTensor/MemOS src/memos/mem_os/core.py (_build_system_prompt)
  'memos memories': (docs) =>
    `You are a knowledgeable AI assistant with access to conversation memories. Use them to understand the user's context.\n\n## Memories:\n${list(docs, (d, n) => `${n}. ${d.text}\n`, '')}`,
  // plandex-ai/plandex app/server/model/plan/tell_context.go (formatModelContext)
  'plandex context': (docs) =>
    ['### LATEST PLAN CONTEXT ###', ...docs.map((d) => `\n\n- ${d.file}:\n\n\`\`\`\n${d.text}\`\`\``)].join(
      '\n### END OF CONTEXT ###\n',
    ),
  // memodb-io/memobase src/server/api/memobase_server/{controllers/context,prompts/chat_context_pack}.py (Chinese)
  'memobase chinese profile': (docs) =>
    `---\n# 记忆\n除非用户有相关的需求，否则不要主动提到这些记忆.\n## 用户当前状态：\n- ${list(docs, (d) => `places::${d.title}: ${d.text}`, '\n- ')}\n\n## 过去事件：\n\n---\n`,
  // neuron-core/neuron-ai src/RAG/Nodes/InstructionsNode.php
  'neuron extra context': (docs) =>
    `You are a friendly AI agent created with Neuron framework.\n\n<EXTRA-CONTEXT>${list(docs, (d) => `Source Type: files\nSource Name: ${d.file}\nContent: ${d.text}\n\n`, '')}</EXTRA-CONTEXT>`,
}

const returned: Readonly<Record<string, readonly [tool: string, write: (documents: Documents) => string]>> = {
  // upstash/context7 packages/mcp/src/lib/utils.ts (formatSearchResults)
  'context7 libraries': [
    'resolve-library-id',
    (docs) =>
      `Available Libraries:\n\n${list(docs, (d) => `- Title: ${d.title}\n- Context7-compatible library ID: /${d.id}\n- Description: ${d.text}\n- Code Snippets: ${d.page * 12}\n- Source Reputation: High\n- Benchmark Score: ${Math.round(d.score * 100)}`, '\n----------\n')}`,
  ],
  // tavily-ai/tavily-mcp src/index.ts (formatResults)
  'tavily mcp detailed results': [
    'tavily_search',
    (docs) => `Detailed Results:\n${list(docs, (d) => `\nTitle: ${d.title}\nURL: ${d.url}\nContent: ${d.text}`, '\n')}`,
  ],
  // RooCodeInc/Roo-Code src/core/tools/CodebaseSearchTool.ts
  'roo code chunks': [
    'codebase_search',
    (docs) =>
      `Query: places\nResults:\n\n${list(docs, (d) => `File path: ${d.file}\nScore: ${d.score}\nLines: ${d.page}-${d.page + 8}\nCode Chunk: ${d.text}\n`, '\n')}`,
  ],
  // cloudflare/mcp-server-cloudflare apps/docs-vectorize/src/tools/docs-vectorize.tools.ts
  'cloudflare result tags': [
    'search_cloudflare_documentation',
    (docs) => list(docs, (d) => `<result>\n<url>${d.url}</url>\n<text>\n${d.text}\n</text>\n</result>`, '\n'),
  ],
  // dotnet/extensions src/ProjectTemplates, AI chat web app (Chat.razor SearchAsync)
  'dotnet chat template results': [
    'Search',
    (docs) => json(docs.map((d) => `<result filename="${d.file}" page_number="${d.page}">${d.text}</result>`)),
  ],
  // awslabs/mcp src/bedrock-kb-retrieval-mcp-server/…/knowledgebases/retrieval.py (query_knowledge_base)
  'bedrock kb json lines': [
    'QueryKnowledgeBases',
    (docs) =>
      list(docs, (d) =>
        dumps({
          content: { text: d.text, type: 'TEXT' },
          location: { s3Location: { uri: `s3://kb/${d.file}` }, type: 'S3' },
          score: d.score,
        }),
      ),
  ],
  // zhayujie/chatgpt-on-wechat agent/memory/tools/memory_search.py
  'chatgpt-on-wechat memory search': [
    'memory_search',
    (docs) =>
      `Found ${docs.length} relevant memories:\n\n${list(docs, (d, n) => `\n${n}. ${d.file} (lines ${d.page}-${d.page + 6})\n   Score: ${d.score.toFixed(3)}\n   Snippet: ${d.text}`, '\n')}`,
  ],
  // databricks/genai-cookbook, retriever tool's chunk_template and prompt_template
  'databricks passages': [
    'search_product_docs',
    (docs) =>
      `Use the following pieces of retrieved context to answer the question.\nOnly use the passages from context that are relevant to the query, ignore the irrelevant passages.  When responding, cite your source.\n\nContext: ${list(docs, (d) => `Passage text: ${d.text}\nPassage metadata: {'doc_uri': '${d.url}'}\n\n`, '')}`,
  ],
}

const chats: Readonly<Record<string, Chat>> = {
  // microsoft/autogen python/packages/autogen-core/src/autogen_core/memory/_list_memory.py (a system message at the end)
  'autogen list memory': (docs, q) => [
    system('You are a helpful assistant.'),
    user(q),
    system(`\nRelevant memory content (in chronological order):\n${list(docs, (d, n) => `${n}. ${d.text}`, '\n')}\n`),
  ],
  // sourcegraph/cody lib/shared/src/prompt/templates.ts (populateCodeContextTemplate); each item with an «Ok.»
  'cody context messages': (docs, q) => [
    user('You are Cody, an AI coding assistant from Sourcegraph.'),
    assistant('I am Cody, an AI coding assistant from Sourcegraph.'),
    ...docs.flatMap((d) => [
      user(`Codebase context from file ${d.file} in repository example/notes:\n\`\`\`markdown\n${d.text}\`\`\``),
      assistant('Ok.'),
    ]),
    user(q),
  ],
  // simonw/files-to-prompt files_to_prompt/cli.py (print_default), piped to `llm -s QUESTION` as its README shows
  'files-to-prompt': (docs, q) => [system(q), user(list(docs, (d) => `${d.file}\n---\n${d.text}\n\n---\n`, ''))],
  // huggingface/cookbook notebooks/en/advanced_rag.ipynb (nothing between the documents but their labels)
  'hf cookbook extracted documents': (docs, q) => [
    system(
      'Using the information contained in the context,\ngive a comprehensive answer to the question.\nGive the number of the source document when relevant.\nIf the answer cannot be deduced from the context, give none.',
    ),
    user(
      `Context:\n\nExtracted documents:\n${list(docs, (d, n) => `Document ${n - 1}:::\n${d.text}`, '')}\n---\nNow here is the question you need to answer.\n\nQuestion: ${q}`,
    ),
  ],
  // binary-husky/gpt_academic crazy_functions/Internet_GPT.py (history of pairs: label, page)
  'gpt academic web pages': (docs, q) => [
    system('请从给定的若干条搜索结果中抽取信息，总结最相关的两个搜索结果，然后回答问题。'),
    ...docs.flatMap((d, i) => [
      user(`第${i + 1}份搜索结果 [源自google搜索] （${d.title.slice(0, 25)}）：`),
      assistant(d.text),
    ]),
    user(`从以上搜索结果中抽取信息，然后回答问题：${q}`),
  ],
  // All-Hands-AI/OpenHands openhands/agenthub/codeact_agent/prompts/microagent_info.j2 (a user message after the task)
  'openhands extra info': (docs, q) => [
    system('You are OpenHands agent, a helpful AI assistant that can interact with a computer.'),
    user(q),
    user(
      list(
        docs,
        (d) =>
          `\n<EXTRA_INFO>\nThe following information has been included because of a keyword match for "${d.title.slice(4)}".\nIt may or may not be relevant to the user's request.\n\n${d.text}\n</EXTRA_INFO>\n`,
        '',
      ).trim(),
    ),
  ],
  // yetone/avante.nvim lua/avante/templates/_context.avanterules (files and task are two user messages)
  'avante selected files': (docs, q) => [
    system('You are a software engineer. Act as an expert developer.'),
    user(
      `<selected_files>\n${list(docs, (d) => `<file path="${d.file}" language="markdown">\n${d.text}\n</file>`, '\n')}\n</selected_files>`,
    ),
    user(q),
  ],
  // GanymedeNil/document.ai code/server/server.py (no line end before the first)
  'document.ai chinese paragraphs': (docs, q) => [
    system('你是一个医院问诊机器人'),
    user(
      '使用以下段落来回答问题："头疼是感冒还是过敏？"\n1. 普通感冒：您会出现喉咙痛，流鼻涕。\n2. 常年过敏：症状包括鼻塞或流鼻涕。',
    ),
    assistant('可能是由于普通感冒或常年过敏引起的。'),
    user(
      `使用以下段落来回答问题，如果段落内容不相关就返回未查到相关信息："${q}"${list(docs, (d, n) => `${n}. ${d.title}: ${d.text}\n`, '')}`,
    ),
  ],
  // jina-ai/node-DeepResearch src/agent.ts (BuildMsgsFromKnowledge)
  'node-DeepResearch knowledge messages': (docs, q) => [
    system(
      'Current date: Thu, 26 Nov 2026\n\nYou are an advanced AI research agent. Answer the user question with certainty.',
    ),
    ...docs.flatMap((d) => [
      user(`What do expert say about "${d.title}"?`),
      assistant(`<url>\n${d.url}\n</url>\n\n${d.text}`),
    ]),
    user(q),
  ],
  // gpt-engineer-org/gpt-engineer gpt_engineer/core/files_dict.py (to_chat), default/steps improve_fn: files, then prompt
  'gpt-engineer files': (docs, q) => [
    system('Improve the existing code. Think step by step.'),
    user(list(docs, (d) => `\n${d.file}\n\`\`\`\n${d.text}\n            \`\`\`\n            \n`, '\n')),
    user(q),
  ],
  // zed-industries/zed crates/agent/src/context.rs (load_context, to_fenced_codeblock): a text part before the question
  'zed attached files': (docs, q) => [
    {
      role: 'user',
      content: [
        {
          type: 'text',
          text: `\n<context>\nThe following items were attached by the user. You don't need other tools to read them.\n\n<files>${list(docs, (d) => `\n\`\`\`md ${d.file}\n${d.text}\n\`\`\`\n`, '')}</files>\n</context>\n`,
        },
        { type: 'text', text: q },
      ],
    } as Message,
  ],
  // bytedance/deer-flow src/graph/nodes.py (reporter_node): a message an observation
  'deer-flow observations': (docs, q) => [
    system('You are a professional reporter who writes clear reports based ONLY on the provided information.'),
    user(`# Research Requirements\n\n## Task\n\n${q}\n\n## Description\n\nFind out what is known.`),
    user('IMPORTANT: Structure your report according to the format in the prompt.'),
    ...docs.map((d) => user(`Below are some observations for the research task:\n\n${d.text}`)),
  ],
  // typesense/typesense src/conversation_model.cpp (OpenAIConversationModel::get_answer; the tags are from memory)
  'typesense data tag': (docs, q) => [
    system('You are an assistant for question-answering. You can only converse with the provided context.'),
    user(
      `\n\n<Data>\n${json(docs.map((d) => ({ id: d.id, text: d.text, title: d.title })))}\n\n<Question>\n${q}\n\n<Answer>`,
    ),
  ],
  // THUDM/CodeGeeX4 llamaindex_demo/models/synthesizer.py, llamaindex_demo/utils/prompts.py (Chinese)
  'codegeex4 chinese citations': (docs, q) => [
    system(
      '你将接收到一个用户提出的问题，并请撰写清晰且准确的答案。\n\n# Note\n- 您将获得与问题相关的多个上下文片段，每个上下文都以引用编号开头，例如[[citation:x]]，其中x是一个数字。\n',
    ),
    user(`[引用]\n${list(docs, (d, n) => `[[citation:${n}]]\n\`\`\`markdown\n${d.text}\n\`\`\``)}\n\n问：${q}\n`),
  ],
}

export const defaultPrompts: readonly Template[] = [
  ...toTemplates({ asked, told, returned }),
  ...Object.entries(chats).map(([name, write]) => ({ name, write })),
]
