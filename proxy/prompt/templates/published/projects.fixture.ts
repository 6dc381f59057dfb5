import { type Documents, list, system, type Template, toTemplates, user } from '../template.fixture.ts'

/*
 * Templates of well-known projects, no two of one project, drawn without a look at the finder. Their marks are exact,
 * their sentences reworded. The finder was developed with them since.
 */

const json = (value: unknown, indent?: number): string => JSON.stringify(value, null, indent)
const numbered = (text: string): string =>
  text
    .split('\n')
    .map((line, i) => `${i + 1}|${line}`)
    .join('\n')

const asked: Readonly<Record<string, (documents: Documents, question: string) => string>> = {
  // zilliztech/deep-searcher deepsearcher/agent/naive_rag.py
  'deep-searcher chunk tags': (docs, q) =>
    `You are an AI content analyst who summarizes well. Summarize a specific and detailed answer from the previous queries and the retrieved document chunks.\n\nOriginal Query: ${q}\n\nRelated Chunks: \n${list(docs, (d, n) => `<chunk_${n - 1}>\n${d.text}\n</chunk_${n - 1}>\n`, '')}\n`,
  // AkariAsai/self-rag retrieval_lm/run_baseline_lm.py, retrieval_lm/utils.py (prompt_no_input_retrieval)
  'self-rag baseline paragraph': (docs, q) =>
    `Below is an instruction describing a task. Write a response that completes the request.\n\n### Paragraph:\n${list(docs, (d, n) => `[${n}] ${d.title}\n${d.text}`, '\n')}\n\n### Instruction:\n${q}\n\n### Response:`,
  // supabase-community/nextjs-openai-doc-search pages/api/vector-search.ts
  'supabase doc search sections': (docs, q) =>
    `You are an enthusiastic Supabase representative who likes to help. Given the following sections from the documentation, answer the question using only that information, in markdown. If unsure, say "Sorry, I can't help with that."\n\nContext sections:\n${list(docs, (d) => `${d.text.trim()}\n---\n`, '')}\n\nQuestion: """\n${q}\n"""\n\nAnswer as markdown (with code snippets if there are any):`,
  // yixuantt/MultiHop-RAG qa_llama.py
  'multihop-rag rules': (docs, q) =>
    `Below is a question followed by some context from different sources. Answer the question based on the context. The answer is a word or an entity. If the information does not suffice, respond 'Insufficient Information'.\n\nQuestion: ${q}\n\nContext:\n\n${list(docs, (d) => d.text, '\n\n--------------\n\n')}`,
  // facebookresearch/CRAG models/rag_llama_baseline.py
  'crag references list': (docs, q) =>
    `# References \n${list(docs, (d) => `- ${d.text.trim()}\n`, '')}\n------\n\nUsing only the references above, answer this question: \nCurrent Time: 03/11/2024, 08:00:00 PT\nQuestion: ${q}\n`,
  // princeton-nlp/HELMET data.py (load_qa)
  'helmet document titles': (docs, q) =>
    `Use the given documents to write a short and concise answer to the question. Write the answer in this format:\nAnswer: [answer]\n\n${list(docs, (d) => `Document (Title: ${d.title}): ${d.text}`)}\n\nQuestion: ${q}\nAnswer:`,
  // glowingjade/obsidian-smart-composer src/utils/chat/promptGenerator.ts
  'smart composer fenced snippets': (docs, q) =>
    `## Potentially Relevant Snippets from the current vault\n${list(docs, (d) => `\`\`\`${d.file}\n${numbered(d.text)}\n\`\`\`\n`, '')}\n\n\n${q}\n\n`,
  // langroid/langroid langroid/agent/special/doc_chat_agent.py (doc_string), langroid/prompts/templates.py
  'langroid numbered extracts': (docs, q) =>
    `\n        Use the NUMBERED EXTRACTS (with sources) given to answer the QUESTION. \n        If there is not enough information, respond with DO-NOT-KNOW. Insert CITATIONS\n        in MARKDOWN format [^i][^j] where i,j,... are the extract NUMBERS.\n        \n        NUMBERED EXTRACTS:\n        \n        ${list(docs, (d, n) => `\n                -----[EXTRACT #${n}]----------\n                ${d.text}\n                SOURCE: ${d.url}\n                -----END OF EXTRACT------------\n                \n                `, '\n')}\n        \n        QUESTION:\n        ${q}\n        \n        ANSWER:\n`,
  // nomic-ai/gpt4all gpt4all-chat/src/chatmodel.h (bakedPrompt)
  'gpt4all localdocs excerpts': (docs, q) =>
    `### Context:\n${list(docs, (d) => `Collection: notes\nPath: ${d.file}\nExcerpt: ${d.text}\n\n`, '')}${q}`,
  // TabbyML/tabby ee/tabby-webserver/src/service/answer.rs (build_user_prompt)
  'tabby cited snippets': (docs, q) =>
    `You are given a user question, please write a clean, concise and accurate answer to it. You will be given a set of related contexts to the question, each starting with a reference number like [[citation:x]]. Please use the context and cite it at the end of each sentence if applicable.\n\nHere are the set of contexts:\n\n${list(docs, (d, n) => `[[citation:${n}]]\n\`\`\`markdown title="${d.file}"\n${d.text}\n\`\`\``)}\n\nRemember, don't repeat the contexts verbatim. And here is the user question:\n\n${q}\n`,
  // xiaowu0162/LongMemEval src/generation/run_generation.py
  'longmemeval sessions': (docs, q) =>
    `I will give you several history chats between you and a user. Answer the question based on the relevant chat history.\n\n\nHistory Chats:\n\n${list(docs, (d, n) => `\n### Session ${n}:\nSession Date: 2023/05/${10 + d.page} (Sat) 02:21\nSession Content:\n\n\nuser: ${d.text.trim()}\n`, '')}\n\nCurrent Date: 2023/06/01 (Thu) 10:02\nQuestion: ${q}\nAnswer:`,
  // MODSetter/SurfSense surfsense_backend/app/agents/researcher/utils.py (format_documents_section)
  'surfsense documents xml': (docs, q) =>
    `Source material from your personal knowledge base:\n    <documents>\n    ${list(docs, (d) => `<document>\n    <metadata>\n        <source_id>${d.id}</source_id>\n        <source_type>FILE</source_type>\n    </metadata>\n    <content>\n        ${d.text}\n    </content>\n    </document>`, '\n')}\n    </documents>\n\n    User's question:\n    <user_query>\n        ${q}\n    </user_query>\n\n    Answer the user's question in detail with citations to the documents.`,
  // superlinear-ai/raglite src/raglite/_database.py (ChunkSpan.to_xml), src/raglite/_rag.py
  'raglite chunk spans': (docs, q) =>
    `---\nThe following context is meant to support answering the question below.\nUse it as the primary source when forming your response.\n---\n\n<context>\n${list(docs, (d, n) => `<document index="${n}" id="${d.id}">\n<source>${d.file}</source>\n<span from_chunk_id="${d.id}0" to_chunk_id="${d.id}3">\n<headings>\n# ${d.title}\n</headings>\n<content>\n${d.text.trim()}\n</content>\n</span>\n</document>`, '\n')}\n</context>\n\n${q}`,
  // opensearch-project/ml-commons search-processors/.../questionanswering/generative/prompt/PromptUtil.java (buildSingleStringPrompt)
  'opensearch search results': (docs, q) =>
    `Generate a concise and informative answer in under 100 words for the given question, taking into context an enumerated list of search results. Cite search results using [\${number}] notation.\n${list(docs, (d, n) => `SEARCH RESULT ${n}: ${d.text}\n`, '')}QUESTION: ${q}\n`,
  // firebase/genkit js/ai/src/model/middleware.ts (augmentWithContext)
  'genkit context items': (docs, q) =>
    `${q}\n\nUse the following information to complete your task:\n\n${list(docs, (d) => `- [${d.id}]: ${d.text}\n`, '')}\n`,
  // get-convex/rag src/client/index.ts (generateText)
  'convex rag documents': (docs, q) =>
    `<context>\n${list(docs, (d) => `<document title="${d.title}">${d.text}</document>`, '\n')}\n</context>\n\n\n<question>\n${q}\n</question>`,
  // aiming-lab/SimpleMem core/answer_generator.py
  'simplemem contexts': (docs, q) =>
    `\nAnswer the user's question based on the provided context.\n\nUser Question: ${q}\n\nRelevant Context:\n${list(docs, (d, n) => `[Context ${n}]\nContent: ${d.text}\nTopic: ${d.title}`)}\n\nRequirements:\n1. First, think through the reasoning process\n2. Then give a very CONCISE answer from the context only\n`,
  // deepseek-ai/DeepSeek-R1 README.md (search_answer_zh_template)
  'deepseek zh webpages': (docs, q) =>
    `# 以下内容是根据用户消息得到的搜索结果:\n${list(docs, (d, n) => `[webpage ${n} begin]${d.text}[webpage ${n} end]`, '\n')}\n在给你的搜索结果中，每个结果都是[webpage X begin]...[webpage X end]格式，X是每篇文章的数字索引。请在适当时于句子末尾按[citation:X]的格式引用上下文。\n回答时请注意：\n- 今天是2025年2月28日。\n- 并非所有搜索结果都与问题密切相关，请结合问题加以筛选。\n\n# 用户消息为：\n${q}`,
  // InternLM/HuixiangDou huixiangdou/services/prompt.py (CitationGeneratePrompt)
  'huixiangdou zh headings': (docs, q) =>
    `## 任务\n请只使用提供的搜索结果（其中一些可能不相关）写出准确而简洁的回答，并正确引用。引用多个搜索结果时，使用[1][2][3]。\n${list(docs, (d, n) => `\n## 检索结果${n}\n${d.text}\n`, '')}\n## 用户输入\n${q}\n`,
  // google-deepmind/loft prompts/constants/common.py (CORPUS_FORMAT), prompts/constants/rag.py
  'loft corpus lines': (docs, q) =>
    `You will be given a list of documents. Read all of them carefully. Then you will be given a query, and your goal is to answer it based on the documents you have read.\n\n${list(docs, (d, n) => `ID: ${n - 1} | TITLE: ${d.title} | CONTENT: ${d.text}`, '\n')}\n\n====== Now let's start! ======\nBased on the documents above, can you answer the following query? Print the ID and TITLE of the documents you use. Then format the answers into a list.\nquery: ${q}\n`,
  // Azure-Samples/rag-postgres-openai-python src/backend/fastapi_app/rag_simple.py, postgres_models.py (to_str_for_rag)
  'rag-postgres bracketed ids': (docs, q) =>
    `${q}\n\nSources:\n${list(docs, (d) => `[${d.id}]:Title:${d.title} Description:${d.text} Mode:in-person\n\n`, '\n')}`,
  // princeton-nlp/SWE-bench swebench/inference/make_datasets/create_instance.py (prompt_style_2)
  'swe-bench start and end of files': (docs, q) =>
    `You will be provided with a partial code base and an issue statement which explains a problem to resolve.\n<issue>\n${q}\n</issue>\n<code>\n${list(
      docs,
      (d) =>
        `[start of ${d.file}]\n${d.text
          .split('\n')
          .map((line, i) => `${i + 1} ${line}`)
          .join('\n')}\n[end of ${d.file}]`,
      '\n',
    )}\n</code>\nSolve this issue by writing a single patch file that I can apply to this repository with git apply.\n<patch>\n--- a/file.py\n+++ b/file.py\n@@ -1,2 +1,2 @@\n-a = 1\n+a = 2\n</patch>`,
  // teddylee777/langchain-kr 17-LangGraph/02-Structures/rag/utils.py (format_docs)
  'langchain-kr document elements': (docs, q) =>
    `당신은 질문-답변(Question-Answering)을 수행하는 친절한 AI 어시스턴트입니다. 검색된 다음 문맥(context)을 사용하여 질문(question)에 답하세요. 답을 모른다면 모른다고 말하세요. 한글로 답변해 주세요.\n\n#Question:\n${q}\n\n#Context:\n${list(docs, (d) => `<document><content>${d.text}</content><source>${d.file}</source><page>${d.page + 1}</page></document>`, '\n')}\n\n#Answer:`,
  // datawhalechina/all-in-rag code/C8/rag_modules/generation_integration.py (_build_context)
  'all-in-rag zh recipes': (docs, q) =>
    `\n你是一位专业的烹饪助手。请根据以下食谱信息回答用户的问题。\n\n用户问题: ${q}\n\n相关食谱信息:\n\n${'='.repeat(50)}${list(docs, (d, n) => `【食谱 ${n}】 ${d.title} | 分类: ${d.file} | 难度: 简单\n${d.text}\n`, '\n')}\n\n请给出详细、实用的回答。如果信息不足，请如实说明。\n\n回答:`,
  // amazon-science/cceval prompt_builder/augment_with_cfc.py
  'cceval commented fragments': (docs, q) =>
    `// Here are some relevant code fragments from other files of the repo:\n\n${list(
      docs,
      (d) =>
        `// the below code fragment can be found in:\n// ${d.file}\n${d.text
          .split('\n')
          .map((line) => `// ${line}`)
          .join('\n')}\n\n`,
      '',
    )}// ${q}\nexport function answer(`,
  // sunnynexus/Search-o1 scripts/run_search_o1.py, scripts/prompts.py
  'search-o1 web pages': (docs, q) =>
    `**Task Instruction:**\n\nYou are to read and analyze web pages based on these inputs: **Previous Reasoning Steps**, **Current Search Query**, and **Searched Web Pages**. Extract helpful information for the query from the pages.\n\n**Inputs:**\n- **Previous Reasoning Steps:**  \nI need to look this up.\n\n- **Current Search Query:**  \n${q}\n\n- **Searched Web Pages:**  \n${list(docs, (d, n) => `**Web Page ${n}:**\n${json({ id: n, title: d.title, url: d.url, snippet: d.text.slice(0, 40), context: d.text }, 2)}\n`, '')}\nNow you should analyze each web page and find helpful information based on the current search query.\n`,
  // RasaHQ/rasa rasa/core/policies/enterprise_search_prompt_with_citation_template.jinja2
  'rasa enterprise search': (docs, q) =>
    `Given the following information, provide an answer based on the provided documents and the context of the recent conversation.\n### Relevant Documents\nUse the following documents to answer the question:\n${list(docs, (d) => `\n*. {'source': '${d.file}', 'title': '${d.title}'}\n${d.text}\n`, '')}\n\n\n### Citing Sources\nFind the sources from the documents that are most relevant to answering the question.\n\n\n### Current Conversation\nTranscript of the current conversation, use it to determine the context of the question:\nUSER: ${q}\n\n## Answering the Question\nBased on the above sections, formulate an answer to the user's last message.\n\nYour answer:`,
  // an unnamed repository, format_sources
  'bge de sources': (docs, q) =>
    `Quellen:\n\n${list(docs, (d, n) => `[Quelle ${n} — ${d.title}, ${d.page}]\n${d.text}`)}\n\nFrage: ${q}`,
  // an unnamed repository, build_prompt
  'report ko reference documents': (docs, q) =>
    `${list(docs, (d, n) => `[참고 문서 ${n}] (연도: 2023, 섹션: ${d.title})\n${d.text}\n---\n`, '')}\n질문: ${q}`,
  // an unnamed repository, realizar_consulta
  'secciones es fragments': (docs, q) =>
    `Eres un bot de ayuda. Usando el siguiente contexto como referencia, responde a la pregunta de manera detallada.\n\n    Contexto:\n    ${list(docs, (d, n) => `Fragmento ${n}: ${d.page} - ${d.text}`, '\n')}\n\n    Pregunta:\n    ${q}\n\n    Respuesta:\n    `,
  // an unnamed repository, LapaLLM.generate_answer
  'lapa uk contexts': (docs, q) =>
    `Контексти з бази знань університету:\n${list(docs, (d, n) => `Документ ${n} (${d.title}):\n${d.text}`, '\n\n---\n\n')}\n\nЗапитання: ${q}`,
}

const told: Readonly<Record<string, (documents: Documents) => string>> = {
  // n4ze3m/page-assist src/utils/format-docs.ts
  'page-assist doc elements': (docs) =>
    `You are a helpful AI assistant. Use the following pieces of context to answer the question at the end. If you do not know the answer, just say so.\n\n${list(docs, (d, n) => `<doc id='${n - 1}'>${d.text}</doc>`, '\n')}\n`,
  // griptape-ai/griptape griptape/templates/engines/rag/modules/response/footnote_prompt/system.j2
  'griptape footnote excerpts': (docs) =>
    `You are an expert Q&A system. Answer the question from the provided context information, not from prior knowledge.\nUse the following list of excerpts to respond.\n\nAdd a footnote number in square brackets after facts taken from excerpts.\n\n## Excerpts\n\n${list(docs, (d) => `Excerpt (Reference ID: ${d.id}): """\n${d.text}\n"""\n`, '')}`,
  // getzep/graphiti graphiti_core/search/search_helpers.py (search_results_to_context_string)
  'graphiti episodes': (docs) =>
    `\n    FACTS and ENTITIES are relevant context to the current conversation.\n    EPISODES are what was said or written.\n    <FACTS>\n            []\n    </FACTS>\n    <EPISODES>\n            ${json(docs.map((d) => ({ source_description: d.title, content: d.text })))}\n    </EPISODES>\n`,
  // Azure-Samples/contoso-chat src/api/contoso_chat/chat.prompty
  'contoso catalog fields': (docs) =>
    `You are an AI agent for the Contoso Outdoors products retailer. Answer questions briefly, in a personable manner using markdown.\n\n# Safety\n- You **should always** reference factual statements to search results based on [relevant documents]\n\n# Documentation\nThe following documentation should be used in the response. The response should include the product id.\n\n${list(docs, (d) => `\ncatalog: ${d.id}\nitem: ${d.title}\ncontent: ${d.text}\n`, '')}\n\nMake sure to reference any documentation used in the response.\n`,
  // casibase/casibase model/util.go (GetKnowledgeFromRawMessages)
  'casibase numbered knowledge': (docs) =>
    `You're an expert in your field and you use the knowledge you've acquired to help people solve problems.\n\nHere's what you know:${list(docs, (d, n) => `\n${n}. ${d.text}`, '')}`,
  // aws-samples/generative-ai-use-cases-jp packages/web/src/prompts/rag-prompt.ts
  'genai use cases jp json lines': (docs) =>
    `あなたはユーザの質問に答えるAIアシスタントです。\n以下の手順で質問に答えてください。\n\n# 回答手順\n* 「# 参考ドキュメント」に回答の参考となるドキュメントがあるので、全て理解してください。\n\n# 参考ドキュメントのJSON形式\n{\n  "DocumentId": "ドキュメントのIDです。",\n  "DocumentTitle": "ドキュメントのタイトルです。",\n  "DocumentURI": "ドキュメントのURIです。",\n  "Content": "ドキュメントの内容です。",\n}[]\n\n\n# 参考ドキュメント\n[\n${list(docs, (d) => json({ DocumentId: d.id, DocumentTitle: d.title, DocumentURI: d.url, Content: d.text }), ',\n')}\n]\n\n# 回答のルール\n* 必ず「# 参考ドキュメント」をもとに回答してください。\n* 回答文以外の文字列は出力しないでください。\n`,
  // mattermost/mattermost-plugin-agents prompts/search_system.tmpl, prompts/search_results.tmpl
  'mattermost messages': (docs) =>
    `You are a helpful assistant in Mattermost who answers questions based on message history, using ONLY the provided context from previous messages.\n\n<context>\n${list(docs, (d, n) => `<message index="${n}" postId="${d.id}" teamName="staff" from="${d.title.toLowerCase().replaceAll(' ', '.')}" in="town-square" time="2025-03-0${d.page}T09:00:00Z" relevance="${d.score.toFixed(2)}">\n${d.text}\n</message>\n\n`, '')}\n</context>\n`,
  // elastic/kibana x-pack/solutions/search/plugins/search_playground/server/lib/conversational_chain.ts (buildContext)
  'kibana playground positions': (docs) =>
    `\n  Instructions:\n  - You are an assistant for question-answering tasks.\n  - Answer truthfully and factually, using only the context presented.\n  - Cite the document where the answer was found using inline academic citation style [], with the position.\n\n  Context:\n  ${list(docs, (d, n) => `\nposition: ${n}\n${d.text}`, '\n')}\n  `,
  // microsoft/PubSec-Info-Assistant app/backend/approaches/chatreadretrieveread.py
  'pubsec numbered files': (docs) =>
    `Sources:\n\n ${list(docs, (d, n) => `File${n - 1} | ${d.text}`, '')}\n\nYou are an Azure OpenAI Completion system. Answer ONLY with the facts listed in the list of sources above.\n    Each source has a file name followed by a pipe character and the actual information. Use square brackets to reference the source.\n    `,
  // AstrBotDevs/AstrBot astrbot/core/knowledge_base/kb_mgr.py (_format_context)
  'astrbot zh knowledge': (docs) =>
    `You are a helpful and friendly assistant.\n\n[Related Knowledge Base Results]:\n以下是相关的知识库内容,请参考这些信息回答用户的问题:\n\n${list(docs, (d, n) => `【知识 ${n}】\n来源: 手册 / ${d.file}\n内容: ${d.text}\n相关度: ${d.score.toFixed(2)}\n`, '\n')}`,
  // gusye1234/nano-graphrag nano_graphrag/_op.py (naive_query), nano_graphrag/prompt.py
  'nano-graphrag new chunks': (docs) =>
    `You're a helpful assistant\nBelow are the knowledge you know:\n${list(docs, (d) => d.text, '--New Chunk--\n')}\n---\nIf you don't know the answer, or the provided knowledge does not suffice, just say so.\n---Target response length and format---\nMultiple Paragraphs\n`,
  // karthink/gptel gptel-context.el (gptel-context--string)
  'gptel request context': (docs) =>
    `You are a large language model living in Emacs and a helpful assistant. Respond concisely.\n\nRequest context:\n\n${list(docs, (d) => `In file \`${d.file.split('/').at(-1)}\`:\n\n\`\`\`\n${d.text}\n\`\`\``, '\n\n\n')}`,
  // modelscope/MemoryScope memoryscope/core/worker/frontend/fuse_rerank_worker.py, memoryscope/core/chat/memory_chat_prompt.yaml
  'memoryscope zh dated memories': (docs) =>
    `你是一个名为MemoryScope的智能助理，请用中文简洁地回答用户问题。当前时间是2024-09-01 10:00:00 周日。\n回答用户问题时，请尽量忽略不相关的信息。只有信息与用户问题或对话内容非常相关时，才加以使用。信息：\n${list(docs, (d) => `[2024-08-1${d.page} 20:15:00 周${'一二三四五六日'[d.page % 7]}] ${d.text}`, '\n')}`,
}

const returned: Readonly<Record<string, readonly [tool: string, write: (documents: Documents) => string]>> = {
  // pydantic/pydantic-ai examples/pydantic_ai_examples/rag.py
  'pydantic-ai rag example': [
    'retrieve',
    (docs) => list(docs, (d) => `# ${d.title}\nDocumentation URL:${d.url}\n\n${d.text}\n`),
  ],
  // strands-agents/tools src/strands_tools/retrieve.py
  'strands retrieve': [
    'retrieve',
    (docs) =>
      `Retrieved ${docs.length} results with score >= 0.4:\n${list(docs, (d) => `\nScore: ${d.score.toFixed(4)}\nDocument ID: ${d.url}\nContent: ${d.text}\n`, '\n')}`,
  ],
  // Kiln-AI/Kiln libs/core/kiln_ai/tools/rag_tools.py
  'kiln chunk contexts': [
    'search_documents',
    (docs) => list(docs, (d) => `[document_id: ${d.id}, chunk_idx: ${d.page}]\n${d.text}\n\n`, '\n=========\n'),
  ],
  // meta-llama/llama-stack llama_stack/providers/inline/tool_runtime/rag/memory.py, llama_stack/apis/tools/rag_tool.py
  'llama-stack knowledge search': [
    'knowledge_search',
    (docs) =>
      `knowledge_search tool found ${docs.length} chunks:\nBEGIN of knowledge_search tool results.\n\n${list(docs, (d, n) => `Result ${n}\nContent: ${d.text}\nMetadata: {'document_id': '${d.id}', 'source': '${d.url}'}\n`, '\n')}\nEND of knowledge_search tool results.\n\nThe above results were retrieved to help answer the user's query. Use them as supporting information only.\n`,
  ],
  // eosphoros-ai/DB-GPT packages/dbgpt-serve/src/dbgpt_serve/rag/tools/semantic_search_tool.py
  'db-gpt semantic search': [
    'kb_semantic_search',
    (docs) =>
      `Semantic search 'opening at night' in kb_7:\n${list(docs, (d, n) => `\n---\n### Result ${n} (score: ${d.score.toFixed(2)}) [${d.file}]\n${d.text}`, '\n')}`,
  ],
  // LearningCircuit/local-deep-research src/local_deep_research/advanced_search_system/strategies/langgraph_agent_strategy.py
  'local-deep-research web search': [
    'web_search',
    (docs) => list(docs, (d, n) => `[${n}] ${d.title} (${d.url})\n${d.text}`),
  ],
  // agentscope-ai/agentscope src/agentscope/middleware/_rag.py (_format_results)
  'agentscope search knowledge': [
    'search_knowledge',
    (docs) => list(docs, (d, n) => `[${n}] (source: ${d.file})\n${d.text}`),
  ],
  // nilsherzig/LLocalSearch backend/llm_tools/tool_search_vector_db.go
  'llocalsearch vector db': [
    'SearchVectorDB',
    (docs) => json(docs.map((d) => ({ Text: d.text, Source: new URL(d.url).host }))),
  ],
  // chatwoot/chatwoot enterprise/lib/captain/tools/faq_lookup_tool.rb
  'chatwoot captain faqs': [
    'captain--tools--faq_lookup',
    (docs) =>
      list(
        docs,
        (d, n) =>
          `\n        Question: ${d.title}\n        Answer: ${d.text}\n        \n          Source marker: [[source:${n}]]\n          `,
        '',
      ),
  ],
  // zhsama/duckduckgo-mcp-server src/index.ts (formatSearchResults; read in the npm package duckduckgo-mcp-server)
  'duckduckgo mcp zh': [
    'duckduckgo_web_search',
    (docs) =>
      `# DuckDuckGo 搜索结果\n夜间开放 的搜索结果（${docs.length}件）\n\n---\n\n${list(docs, (d) => `### ${d.title}\n${d.text}\n\n🔗 [阅读更多](${d.url})\n`)}\n`,
  ],
}

/** Templates whose documents or question are in messages of another order. */
const arranged: readonly Template[] = [
  {
    // huggingface/transformers src/transformers/models/cohere/tokenization_cohere_fast.py (apply_grounded_generation_template)
    name: 'command-r grounded results',
    write: (docs, q) => [
      system(
        '# Safety Preamble\nDo not answer questions that are harmful or immoral.\n\n# System Preamble\n## Basic Rules\nYou are a powerful conversational AI. When you answer the requests of the user, you cite your sources.',
      ),
      user(q),
      system(
        `<results>\n${list(docs, (d, n) => `Document: ${n - 1}\ntitle: ${d.title}\ntext: ${d.text}`)}\n</results>`,
      ),
      system(
        "Perform the following instructions in order.\nFirstly, decide which of the retrieved documents are relevant to the last input of the user by writing 'Relevant Documents:' followed by a comma-separated list of document numbers.\nThirdly, write 'Answer:' followed by a response. Use the retrieved documents to help you.",
      ),
    ],
  },
  {
    // sweepai/sweep sweepai/core/entities.py (Snippet.xml), sweepai/core/prompts.py (human_message_prompt)
    name: 'sweep relevant snippets',
    write: (docs, q) => [
      system('You are a bot and an engineer assigned to the following GitHub ticket. You are helpful and concise.'),
      user(
        `<relevant_snippets_in_repo>\n${list(
          docs,
          (d) =>
            `<snippet source="${d.file}:1-${d.text.split('\n').length}">\n${d.text
              .split('\n')
              .map((line, i) => `${i + 1}: ${line}`)
              .join('\n')}\n</snippet>`,
          '\n',
        )}\n</relevant_snippets_in_repo>`,
      ),
      user(`# Repo & Issue Metadata\nRepo: example/notes\nIssue Title: ${q}`),
    ],
  },
  {
    // CopilotC-Nvim/CopilotChat.nvim lua/CopilotChat/client.lua (generate_resource_block)
    name: 'copilot-chat.nvim resources',
    write: (docs, q) => [
      system('You are a code-focused AI programming assistant. Follow the requirements of the user carefully.'),
      ...docs.map((d) => {
        const lines = d.text.split('\n')
        const width = String(lines.length).length
        const block = lines.map((line, i) => `${String(i + 1).padStart(width)}: ${line}`).join('\n')
        return user(
          `# file://${d.file}\n\`\`\`markdown path=${d.file} start_line=1 end_line=${lines.length}\n${block}\n\`\`\``,
        )
      }),
      user(q),
    ],
  },
  {
    // naver/bergen config/prompt/basic_translated_langspec/ru.yaml, models/generators/llm.py (format_instruction)
    name: 'bergen ru background',
    write: (docs, q) => [
      system(
        'Ты всегда готовый помочь ассистент. Твоя задача — извлекать из предоставленных документов нужную информацию и как можно короче отвечать на вопросы. Отвечай по-русски.',
      ),
      user(
        `Background:\n${list(docs, (d, n) => `Document ${n}: ${d.text.trim().split(/\s+/).slice(0, 100).join(' ')}\n`, '')}\n\nQuestion: ${q}`,
      ),
    ],
  },
]

export const projects: readonly Template[] = [...toTemplates({ asked, told, returned }), ...arranged]
