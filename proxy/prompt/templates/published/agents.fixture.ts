import { type Documents, list, system, type Template, toTemplates, user } from '../template.fixture.ts'

/*
 * Templates of agents, memory layers, web search and coding assistants, no two of one repository as far as it is named,
 * drawn without a look at the finder. Their marks are exact, their sentences reworded. The finder was developed with
 * them since.
 */

const json = (value: unknown, indent?: number): string => JSON.stringify(value, null, indent)

const asked: Readonly<Record<string, (documents: Documents, question: string) => string>> = {
  // TahaDataAlchemy/GenAI-agents DeepResearcher/usecase/SummarizationAgent.py (no question in the prompt)
  'deep researcher, summary of JSON results': (docs) =>
    `You are an AI assistant. Sum up the search results that follow.\nEach item has a title, snippet, link and full text.\n\nYour task:\n- Give a clear, short summary of the most relevant content.\n- Name the key steps if instructions are involved.\n- At the end, recommend the most relevant link.\n\n${json(
      docs.map((d) => ({ title: d.title, snippet: d.text.slice(0, 60), link: d.url, text: d.text })),
      2,
    )}`,
  // Sanya486/agentic-retrival-routing-vercel-sdk utils.js
  'agentic routing, rules around and between': (docs, q) =>
    `You are a helpful assistant. Answer the question from the context below ONLY. If the answer is not in it, tell the user.\n\nContext:\n---\n${list(docs, (d) => d.text, '\n\n---\n\n')}\n---\n\nQuestion: ${q}\nAnswer:`,
  // HanseMerkur/WikiChat modules/retrieval.py
  'WikiChat, German, rules between': (docs, q) =>
    `Nutze den folgenden Kontext, um die Frage am Ende kurz zu beantworten.\n\nKontext:\n\n${list(docs, (d) => d.text, '\n\n---\n\n')}\n\nFrage: ${q}\n\nAntwort:\n`,
  // jungt72/sealAI backend/app/services/prompt/prompt_utils.py
  'sealAI, German, passages after the question': (docs, q) =>
    `${q}\n\nNützliche Passagen:\n${list(docs, (d) => d.text, '\n---\n')}`,
  // Sfeso13/handbook_assistant src/scripts/prompt.py
  'handbook assistant, bracketed numbers': (docs, q) =>
    `You are an assistant answering questions with the handbook excerpts provided.\nAnswer strictly from the context below.\nIf the answer is not in it, say "I don't know".\n\nContext:\n${list(docs, (d, n) => `[${n}] ${d.text}`)}\n\nQuestion:\n${q}\n\nAnswer:`,
  // djcc2001/IntelliDocU src/v2_rag_basic/prompt.py
  'IntelliDocU, Spanish doc, p, frag': (docs, q) =>
    `Eres un asistente academico que responde preguntas sobre articulos.\nInstrucciones:\n1. Usa SOLO el contexto proporcionado.\n2. NO inventes resultados.\n3. Respuesta corta.\n\nContexto:\n${list(docs, (d) => `[doc=${d.id}, p=${d.page}, frag=${d.page * 3}]\n${d.text}`)}\n\nPregunta:\n${q}\n\nRespuesta:\n`,
  // DmytroLitvinov/django-rag-chatbot server/apps/documents/prompting.py
  'django rag chatbot, Page after rules': (docs, q) =>
    `You are a helpful assistant. Answer with the context only.\n\nContext:\n${list(docs, (d) => `[Page ${d.page}] ${d.text}`, '\n\n---\n')}\n\nQuestion: ${q}\n\nBe concise. If it is not in the context, say "I don’t know" in the question's language.\n`,
  // RicciJuaman/azure-rag-project app/prompts.py
  'azure-rag-project, id and Source between dashes': (docs, q) =>
    `\nContext:\n--------\n${list(docs, (d) => `[${d.id}] Source: ${d.file}\n${d.text}`)}\n\n--------\nQuestion:\n${q}\n\nInstructions:\n- Answer from the context above ONLY\n- Cite sources by number (e.g. [1], [3])\n`,
  // aws-samples/reinforce-dap341-genai-data-protection src/07_rag.py
  'aws reinforce lab, CONTEXT rules': (docs, q) => `${list(docs, (d) => `------CONTEXT-----${d.text}`, '')}${q}`,
  // garrett-partenza-us/quote-seek api/prompt.go
  'quote-seek, search_result after the query': (docs, q) =>
    `<user_prompt>Answer the query using the quotes found in the search results.<rag_query>${q}</rag_query><search_results>${list(docs, (d) => `<search_result>${d.text}</search_result>`, '')}</search_results></user_prompt>`,
  // odndevel/sample-aws-idp-pipeline packages/lambda/search-mcp/src/prompt.ts
  'aws idp pipeline, document_id and segment_id': (docs, q) =>
    `You are an assistant that puts document search results in order.\n\n<query>\n${q}\n</query>\n\n<search_results>\n${list(docs, (d, n) => `[${n}] document_id: ${d.id}, segment_id: ${d.page}\n${d.text}`)}\n</search_results>\n\nOrganize what relates to the query based on the search results above.\n\nRules:\n1. Keep the wording of the documents.\n2. Leave out results that do not relate to the query.\n3. Always state the source (document_id, segment_id).`,
  // lobehub/lobe-chat src/prompts/knowledgeBaseQA/{index,chunk}.ts
  'lobe-chat, retrieved_chunks': (docs, q) =>
    `${q}\n\n<knowledge_base_qa_info>\nYou are also good at answering questions related to the notes. You'll be given a question and several passages that might be relevant. Answer from the question and passages.\n<knowledge_base_anwser_instruction>\n- Passages might not be relevant, use only those that are.\n- Answer in the language of the question, with markdown syntax.\n</knowledge_base_anwser_instruction>\n<knowledge_bases>\n<knowledge_bases_docstring>the knowledge bases you can answer from:</knowledge_bases_docstring>\n<knowledge id="kb1" name="notes" type="file" fileType="md" >Notes</knowledge>\n</knowledge_bases>\n<retrieved_chunks>\n<retrieved_chunks_docstring>chunks found which you can refer to:</retrieved_chunks_docstring>\n${list(docs, (d) => `<chunk fileId="${d.id}" similarity="${d.score}"  pageNumber="${d.page}" >${d.text}</chunk>`, '\n')}\n</retrieved_chunks>\n<user_query>\n<user_query_docstring>the user's question may be rewritten; a rewrite is in the \`rewrite_query\` tag.</user_query_docstring>\n\n<raw_query>${q}</raw_query>\n<rewrite_query>${q}</rewrite_query>\n<user_query>\n</knowledge_base_qa_info>`,
  // VikParuchuri/researcher summary.py (collapses white space)
  'researcher, results in back-quotes after the question': (docs, q) =>
    `Question: \`${q}\`\n${list(docs, (d, n) => `\nSearch result [${n}]: \`${d.text.split(/\s+/).join(' ')}\`\n`, '')}\nInstructions: \n# Answer the question (at most 150 words) from the web Search Results provided only (URL and Summary).\n# Combine the results into one answer. Do not repeat text.\n# Cite search results using [\${index}].\n# Format:\n# Question: \`\${question text}\`\n# Search result [\${index}]: \`\${search result text}\`\nAnswer:`,
  // MicrosoftDocs/azure-ai-docs articles/search/tutorial-rag-build-solution-query.md
  'Azure AI Search tutorial, title:chunk:locations': (docs, q) =>
    `\nYou are an AI assistant that helps users find information.\nAnswer the query from the sources below only.\nUse bullets for several points.\nIf there isn't enough information below, say you don't know.\nQuery: ${q}\nSources:\n${list(docs, (d) => `${d.title}:${d.text}:['${d.title}']`, '\n')}\n`,
  // rashadphz/farfalle src/backend/{prompts,chat,schemas}.py
  'farfalle, Citation heads': (docs, q) =>
    `Write an informative answer (at most 120 words) to the question, based on the web Search Results provided only (URL, Page Title, Summary). Cite search results INLINE in the format [1][2][3], do not add a reference section.\n\nReply in markdown.\n\n---------------------\n${list(docs, (d, n) => `Citation ${n}. Title: ${d.title}\nURL: ${d.url}\n Summary: ${d.text}`)}\n---------------------\nQuery: ${q}\nAnswer: `,
  // InseeFrLab/llm-open-data-insee src/config/prompting_config.py, src/utils/formatting_utilities.py
  'INSEE, French, Doc i with Title and Content': (docs, q) =>
    `\n<s>[INST]\nTu es un assistant qui répond aux questions d'agents.\nRéponds en français seulement.\nUtilise les informations du contexte et cite tes sources.\n\nSi le contexte ne suffit pas, ne réponds pas.\nVoici le contexte sur lequel baser ta réponse :\nContexte: ${list(docs, (d, n) => `Doc ${n - 1}:\nTitle: ${d.title}\nContent:\n${d.text}`)}\n        ---\nVoici la question à laquelle répondre :\nQuestion: ${q}\n[/INST]\n`,
  // kenzy444/literature-review-agent src/services/llm/prompts.py (no question in the prompt)
  'literature review, bullets with fields': (docs) =>
    `You are an academic writing assistant.\nFrom the information extracted from several papers below, \nwrite a concise **literature review**.\nEach entry has a title, authors, year, \nand a short chunk of the paper.\nContext:\n${list(docs, (d) => `• **Title:** ${d.title} (2024)\n  - Authors: N/A\n  - Method: N/A\n  - Source: ${d.url}\n  - Summary: ${d.text.slice(0, 500)}\n`, '\n')}\nLiterature Review:\n`,
  // ibrahimey/hackaTUM-2024 modules/{article_writer,prompts}.py (no question in the prompt)
  'hackaTUM, Title and Summary lines': (docs) =>
    `\nYou are a journalist. Write an informative news article based on the summaries of recent events provided. \n\nRequirements:\n- Make a headline.\n- Write an introduction.\n- Group related points.\n\nBelow is the input: titles and summaries from various sources. Use these to write the article.\n\nInput information:\n${list(docs, (d) => `Title: ${d.title}\nSummary: ${d.text}`, '\n')}\n\nThe article should be clear. Do not copy the summaries verbatim.\n`,
  // Hellnight2005/Cognidesk Idea-valut-service/utils/formatPrompt.js
  'Cognidesk, From file': (docs, q) =>
    `Context:\n\n${list(docs, (d) => `From file: ${d.file}\n${d.text}`)}\n\n---\n\nQuestion: ${q}\n\nAnswer:`,
  // QuantumLotusCreations/CodexLotus src-tauri/src/ai/context_builder.rs
  'CodexLotus, BEGIN FILE and END FILE': (docs, q) =>
    `Answer the user's question with the following project context. 'file' or 'chapter' usually refers to these snippets:\n\n${list(docs, (d) => `--- BEGIN FILE: ${d.file} ---\n${d.text}\n--- END FILE: ${d.file} ---\n\n`, '')}---\n\n${q}`,
  // GiovenPosa/repomind-backend dist/services/answerService.js
  'repomind, ids and lines, a rule after each': (docs, q) =>
    `Question:\n${q}\n\nContext:\n${list(docs, (d) => `[${d.id}] ${d.file}:${d.page}-${d.page + 20}\n${d.text}\n---`, '\n')}\n\nInstructions:\n- Answer the question from the context.\n- Add citations like [3339a3abe4b6-0001] where they apply.\n- If the context is insufficient, say so.`,
  // an unnamed repository, TEMPLATE, answer_stub
  'documentation bot, Russian': (docs, q) =>
    `Ответь коротко, опираясь только на источники ниже. \nЕсли ответа в них нет, так и напиши.\n\nИсточники:\n${list(docs, (d, n) => `(${n}) ${d.file}, стр.${d.page}\n${d.text}`)}\n\nВопрос: ${q}\n\nОтвет:`,
  // BAI-LAB/MemoryOS memoryos-pypi/{memoryos,prompts}.py
  'MemoryOS, Historical Memory': (docs, q) =>
    `<CONTEXT>\nFrom your recent conversation with the user:\nUser: Hello\nAssistant: Hello! (Time: 2026-04-01 09:00:00)\n\n<MEMORY>\nThe memories linked to the conversation are:\n${list(docs, (d) => `【Historical Memory】\nUser: What about ${d.title}?\nAssistant: ${d.text}\nTime: 2026-03-0${d.page} 10:00:00\nConversation chain overview: N/A`, '\n')}\n\n<USER TRAITS>\nYou found that the user has these characteristics:\n【User Profile】\nNo detailed profile available yet.\n\n\nNow role-play as friend to continue the dialogue.\nThe user just said: ${q}\nRespond to the user's statement (maximum 30 words):\n Check whether the timestamp of the information matches the time the question asks about`,
  // hagaybar/rare-books-bot scripts/prompting/prompt_builder.py
  'rare-books-bot, Source ID, Content and Page': (docs, q) =>
    `\nYou are an expert assistant helping librarians.\n\nAnswer ONLY from the provided context.\nIf it does not contain the answer, say so.\n\n1. Give a step-by-step guide.\n2. Cite sources by their IDs (e.g., [doc_id_1], [doc_id_2]).\n\nAnswer in the language of the question.\n---\n\nContext:\n${list(docs, (d) => `Source ID: [${d.file}]\nContent: ${d.text}\nPage: ${d.page}`, '\n\n---\n\n')}\n\n---\n\nUser Question:\n${q}\n\n---\n\nAnswer:\n`,
  // CherryHQ/cherry-studio src/renderer/src/config/prompts.ts (REFERENCE_PROMPT)
  'cherry-studio, reference materials as JSON': (docs, q) =>
    `Please answer the question from the reference materials\n\n## Citation Rules:\n- Cite the context at the end of sentences where appropriate.\n- Use citation numbers [number] in the parts of the answer they belong to.\n- If no reference is relevant to the question, answer from your knowledge.\n\n## My question is:\n\n${q}\n\n## Reference Materials:\n\n\`\`\`json\n${json(
      docs.map((d, i) => ({ id: i + 1, content: d.text, sourceUrl: d.url, type: 'url' })),
      2,
    )}\n\`\`\`\n\nRespond in the language of the question.\n`,
  // dcSpark/shinkai-code-generator src/DocumentationGenrator/prompts/select-serach-urls.ts
  'shinkai, JSON in a search_results tag': (docs, q) =>
    `\nThe search results tag holds JSON with internet search results for the query: "${q}"\n<search_results>\n${json(docs.map((d) => ({ title: d.title, url: d.url, description: d.text })))}\n</search_results>\n\n<rules>\n* Keep only the links that might have the documentation. \n* Return the links as a JSON array.\n</rules>\n\n<format>\n* Output only the JSON array.\n</format>\n\n            `,
  // an unnamed repository, VI_PROMPT_TEMPLATE, package uraxlaw.lawrag
  'uraxlaw, Vietnamese, Doc and Chunk': (docs, q) =>
    `Bạn là chuyên gia pháp lý. Dưới đây là các văn bản liên quan:\n${list(docs, (d) => `[Doc: ${d.file} | Chunk: ${d.id}]\n${d.text}\n`, '\n')}\n\nCâu hỏi: ${q}\n\nHãy trả lời dựa trên nội dung trên và ghi rõ nguồn.`,
  // an unnamed repository, buildRagSection
  'school documents, Korean, between rules': (docs, q) =>
    `[참고 문서 - RAG]\n비슷한 유형의 실제 문서 예시는 다음과 같습니다:\n---\n${list(docs, (d, n) => `[참고문서 ${n}] ${d.title}\n출처: ${d.url}\n${d.text}`, '\n\n---\n\n')}\n---\n\n\n${q}`,
  // an unnamed repository, buildRagPrompt
  'knowledge base hits, Chinese, question first': (docs, q) =>
    `你是一个有知识的助手，请参考下面的资料来回答问题，资料没有帮助时请忽略。\n\n[问题]\n用户提问：${q}\n\n[参考资料]\n${list(docs, (d, n) => `${n}. 文档标题：${d.title}\n${d.text}\n\n`, '')}\n请根据上面的资料内容回答问题。`,
  // an unnamed repository, build_prompt
  'help desk, Japanese, Doc numbers': (docs, q) =>
    `あなたは社内ヘルプデスクのアシスタントです。\n以下のドキュメントだけを根拠に、簡潔に回答してください。\n最後に出典として [Doc1] のように参照を付けてください。\n\n回答:\n- ...\n出典: [Doc?]\n\n質問: ${q}\n\nコンテキスト:\n${list(docs, (d, n) => `[Doc${n}]\n${d.text}`)}\n\n出力のみを書いてください。`,
  // an unnamed repository, build_prompt
  'case law, Spanish, Fuente with court and date': (docs, q) =>
    `Consulta del usuario:\n${q}\n\nFragmentos relevantes de jurisprudencia y doctrina:\n${list(docs, (d, n) => `[Fuente ${n}] ${d.title} —  — s/f\n${d.text}\n`)}\n\nInstrucciones de redacción:\n- Redactá una respuesta clara y concisa.\n- Referenciá las fuentes con el formato [Fuente 1], [Fuente 2], etc.\n- Si el contexto es insuficiente, indicalo.\n\nFormato de salida esperado:\nUna respuesta en párrafos, sin URLs.`,
}

const told: Readonly<Record<string, (documents: Documents) => string>> = {
  // khromalabs/ainara ainara/templates/framework.chat_manager.user_memories_prompt.mu
  'ainara, user memories with dates': (docs) =>
    `Here are some relevant memories about the user. Use them to understand the context of the conversation.\n\nIMPORTANT: If memories conflict, the one with the latest 'Last updated' is right.\n\n**User Context Memories:**\n${list(docs, (d) => `- ${d.text} (Created: 2026-03-0${d.page} 10:00, Last updated: 2026-04-1${d.page} 18:30)\n`, '')}`,
  // ridamsinghal25/chatty utils/retrieveMemories.ts
  'chatty, Memory:': (docs) =>
    `System Message: These are the memories I have stored. Give more weight to the user's question and adapt the answer to the memories. Ignore those that are irrelevant. \n\n ${list(docs, (d) => `Memory: ${d.text}\n\n`)}`,
  // an unnamed repository, buildSystemPrompt
  'memory assistant, Chinese, numbered with type': (docs) =>
    `你是一个有长期记忆的中文助手。\n回答要求：准确、简洁。\n优先使用“历史记忆”中的信息；若与当前输入冲突，以当前输入为准。\n\n历史记忆：\n${list(docs, (d, n) => `${n}. [fact] ${d.text}`, '\n')}`,
}

const returned: Readonly<Record<string, readonly [tool: string, write: (documents: Documents) => string]>> = {
  // gBoole01/nestjs-langchain-agents src/tools/serper/utils/formatWebSearchResults.ts
  'nestjs agents, indented serper results': [
    'serper',
    (docs) =>
      `\n    Top Search Results:\n    ${list(docs, (d, n) => `\n            Result ${n}:\n            Title: ${d.title}\n            Link: ${d.url}\n            Snippet: ${d.text}\n            `, '\n')}\n    `,
  ],
  // lukifer23/IRISStar app/src/main/java/com/nervesparks/iris/data/search/SearchResultFormatter.kt
  'IRIS, bold numbered titles and rules': [
    'web_search',
    (docs) =>
      `🔍 **Search Results for "night visits"**\n\n${list(docs, (d, n) => `**${n}. ${d.title}**\n${d.text}\nSource: ${d.url}\n---\n\n`, '')}These results come from a web search. Please verify what matters.`,
  ],
  // miquido/draive-examples chat/src/features/knowledge/search.py
  'draive, source and content on their own lines': [
    'search',
    (docs) => list(docs, (d) => `source:\n${d.file}\ncontent:\n${d.text}`, '\n---\n'),
  ],
  // dlz-dev/HELMo-ORACLE core/tools_oracle.py
  'HELMo oracle, Excerpt': [
    'search_knowledge_base',
    (docs) => list(docs, (d) => `[Source: ${d.file}]\nExcerpt: ${d.text}`),
  ],
  // qdrant/mcp-server-qdrant src/mcp_server_qdrant/mcp_server.py (format_entry), tests/test_format_entry.py
  'Qdrant MCP server, entries': [
    'qdrant-find',
    (docs) =>
      `Results for the query 'night visits'\n${list(docs, (d) => `<entry><content>${d.text}</content><metadata>${json({ source: d.file })}</metadata></entry>`, '\n')}`,
  ],
  // Alibaba-NLP/DeepResearch inference/tool_search.py
  'Tongyi DeepResearch, numbered links': [
    'search',
    (docs) =>
      `A Google search for 'night visits' found ${docs.length} results:\n\n## Web Results\n${list(docs, (d, n) => `${n}. [${d.title}](${d.url})\nDate published: Mar ${d.page}, 2026\n\n${d.text}`)}`,
  ],
  // Kukiat2027/toon-pao src/util/build-context.ts, src/lib/ai/tool/searchFormula.ts
  'toon-pao, indented fields': [
    'search_formula_context',
    (docs) =>
      list(
        docs,
        (d, n) =>
          `\n        Document ${n}\n        id: ${d.id}\n        text: ${d.text}\n        Formula: ${json({ name: d.title, url: d.url })}`,
      ),
  ],
  // zilliztech/claude-context packages/mcp/src/handlers.ts
  'claude-context, code snippets': [
    'search_code',
    (docs) =>
      `Found ${docs.length} results for query: "night visits" in codebase '/home/me/notes'\n\n${list(docs, (d, n) => `${n}. Code snippet (markdown) [notes]\n   Location: ${d.file}:${d.page}-${d.page + 20}\n   Rank: ${n}\n   Context: \n\`\`\`markdown\n${d.text}\n\`\`\`\n`, '\n')}`,
  ],
  // logancyang/obsidian-copilot src/LLMProviders/chainRunner/utils/searchResultUtils.ts
  'obsidian-copilot, localSearch': [
    'localSearch',
    (docs) =>
      `<localSearch>\n${list(docs, (d, n) => `<document>\n<id>${n}</id>\n<title>${d.title}</title>\n<path>${d.file}</path>\n<modified>2026-03-0${d.page}T10:00:00.000Z</modified>\n<content>\n${d.text}\n</content>\n</document>`)}\n</localSearch>`,
  ],
  // PratyushRao/JARVIS backend/brain/web_search.py
  'JARVIS, Title, URL and Snippet': [
    'search_duckduckgo',
    (docs) => list(docs, (d) => `Title: ${d.title}\nURL: ${d.url}\nSnippet: ${d.text}\n`, '\n---\n'),
  ],
  // Vrajesh-Sharma/Blog-Agent tools/google_search_tool.py
  'Blog-Agent, JSON results': [
    'google_search_tool',
    (docs) => json({ results: docs.map((d) => ({ title: d.title, url: d.url, snippet: d.text })) }),
  ],
  // OnliSyn/onli-mcp-service mcp-kb/src/tools/kbSearch.ts
  'onli MCP, JSON passages': [
    'kb_search',
    (docs) =>
      json(
        {
          passages: docs.map((d) => ({
            id: d.id,
            title: d.title,
            source: d.file,
            excerpt: d.text.slice(0, 600) + (d.text.length > 600 ? '…' : ''),
          })),
        },
        2,
      ),
  ],
  // modelcontextprotocol/servers src/brave-search/index.ts
  'Brave search MCP server': [
    'brave_web_search',
    (docs) => list(docs, (d) => `Title: ${d.title}\nDescription: ${d.text}\nURL: ${d.url}`),
  ],
  // PeterGriffinJin/Search-R1 search_r1/llm_agent/generation.py
  'Search-R1, information': [
    'search',
    (docs) =>
      `\n\n<information>${list(docs, (d, n) => `Doc ${n}(Title: "${d.title}") ${d.text}`, '\n')}</information>\n\n`,
  ],
  // huggingface/smolagents src/smolagents/default_tools.py (DuckDuckGoSearchTool)
  'smolagents, links as heads': [
    'web_search',
    (docs) => `## Search Results\n\n${list(docs, (d) => `[${d.title}](${d.url})\n${d.text}`)}`,
  ],
}

/** Templates with more messages. */
const chats: readonly Template[] = [
  {
    // TarekRefaei/LocalPilot extension/src/features/chat/prompt-builder.ts
    name: 'LocalPilot, code context in a second system message',
    write: (docs, q) => [
      system(
        'You are an AI assistant answering questions about a codebase.\nBase your answers ONLY on the provided context.\nIf the answer is not in it, say "I don\'t know".',
      ),
      system(
        `CODE CONTEXT:\n\n${list(docs, (d) => `File: ${d.file} (lines ${d.page}–${d.page + 20})\n\`\`\`markdown\n${d.text}\n\`\`\``)}`,
      ),
      user(q),
    ],
  },
]

export const agents: readonly Template[] = [...toTemplates({ asked, told, returned }), ...chats]
