import { type Documents, list, system, type Template, toTemplates, user } from '../template.fixture.ts'

/*
 * Templates of chatbots and document assistants, no two of one repository as far as it is named,
 * drawn without a look at the finder. Their marks are exact, their sentences reworded. The finder was developed with
 * them since.
 */

const json = (value: unknown, indent?: number): string => JSON.stringify(value, null, indent)

const asked: Readonly<Record<string, (documents: Documents, question: string) => string>> = {
  // olsove/spring-ai-rag-assistant src/main/java/no/olsove/learn/ai/rag/spring_ai_rag_assistant/chat/ChatOrchestrator.java
  'query first, piped source and chunk (Java)': (docs, q) =>
    `Query: ${q}\n\nContext:\n${list(
      docs,
      (d, n) => `[Source: ${d.file} | Chunk: ${n}]\n${d.text}\n`,
    )}\n\nInstructions:\n- Only use context.\n- If asked for steps, return all of them in order.\n- Keep exact numbers and units.\n`,

  // isundaylee/istaroth istaroth/rag/output_rendering.py, prompt_set.py
  'Chinese game lore under lines of hashes': (docs, q) =>
    `请根据以下资料回答：\n${[
      ...docs.flatMap((d, i) => [
        '#'.repeat(80),
        `# 文件 ${i + 1} (相关性分数: ${d.score.toFixed(4)}, 文件ID: ${d.id}, 文件片段序号: ${d.page} 到 ${d.page}):\n`,
        `------------------- 文件片段 ${d.page}:\n`,
        d.text,
        '\n',
      ]),
    ].join(
      '\n',
    )}\n\n\n回答要求：\n\n请基于资料内容，简洁清晰地回答问题。\n\n重要提醒：引用原文时使用XML格式。\n\n用户提问：${q}\n`,

  // Islam-Reda-13/HR-Toolkit src/stores/llm/templates/locales/en/rag.py, src/controllers/NLPController.py
  'HR documents with two headings': (docs, q) =>
    `${list(docs, (d, n) => `## Document No: ${n}\n### Content: ${d.text}`)}\n\nBased only on the documents above, generate an answer for the user.\n## Answer:\n\nUser Question: ${q}\n\nGive a full answer from the context above. If it does not suffice, say so.`,

  // mckaywrigley/chatbot-ui lib/build-prompt.ts
  'question, then sources with begin and end tags': (docs, q) =>
    `${q}\n\nYou may use these sources to answer the user's question. If you don't know the answer, say "I don't know."\n\n${list(
      docs,
      (d) => `<BEGIN SOURCE>\n${d.text}\n</END SOURCE>`,
    )}`,

  // Teddy-XiongGZ/MedRAG src/medrag.py, src/template.py
  'medical exam documents from zero': (docs, q) =>
    `\nHere are the relevant documents:\n${docs
      .map((d, i) => `Document [${i}] (Title: ${d.title}) ${d.text}`)
      .join(
        '\n',
      )}\n\nHere is the question:\n${q}\n\nHere are the potential choices:\n\n\nThink step-by-step and give your output in json:\n`,

  // netease-youdao/QAnything qanything_kernel/core/local_doc_qa.py, qanything_kernel/configs/model_config.py
  'references in upper case containers, question twice': (docs, q) => {
    const instructions = `\n- All contents between <DOCUMENTS> and </DOCUMENTS> are reference information from an external knowledge base.\n- If you cannot answer from it, return "抱歉，参考信息不足，无法回答。".\n- Now, answer this question based on the retrieved documents above:\n${q}\n- Return Markdown, in the language of the question "${q}".\n`
    return `\n<SYSTEM>\n\nYou are a reliable assistant that answers questions with the help of external documents.\nThe current time is 10:00:00.\n\n</SYSTEM>\n\n<INSTRUCTIONS>\n${instructions}\n</INSTRUCTIONS>\n\n<DOCUMENTS>\n${docs
      .map((d, i) => `<reference>[${i + 1}]\n${d.text}\n</reference>\n`)
      .join('')}\n</DOCUMENTS>\n\n<INSTRUCTIONS>\n${instructions}\n</INSTRUCTIONS>\n`
  },

  // Tencent/WeKnora internal/application/service/chat_pipeline/into_chat_message.go, config/prompt_templates/context_template.yaml
  'titles of all documents, then contexts with ids (Go)': (docs, q) =>
    `## Reference materials (source data)\n<documents>\n${docs
      .map((d) => `<document>\n<title>${d.title}</title>\n</document>\n`)
      .join('')}</documents>\n${list(
      docs,
      (d, n) => `<context id="${n}">${d.text}</context>`,
      '\n',
    )}\n\n## Request metadata\nCurrent time: 2025-03-04 10:00:00 Tuesday\n\n## User request\n${q}\n`,

  // langchain4j/langchain4j langchain4j-core/src/main/java/dev/langchain4j/rag/content/injector/DefaultContentInjector.java
  'message, then contents with metadata below (Java)': (docs, q) =>
    `${q}\n\nAnswer using this information:\n${list(
      docs,
      (d) => `content: ${d.text}\nfile_name: ${d.file}\nindex: ${d.page}`,
    )}`,

  // Azure-Samples/chat-with-your-data-solution-accelerator code/backend/batch/utilities/tools/question_answer_tool.py
  'retrieved documents as compact JSON, keyed by number': (docs, q) =>
    `## Retrieved Documents\n${json({
      retrieved_documents: docs.map((d, i) => ({ [`[doc${i + 1}]`]: { content: d.text } })),
    })}\n\n## User Question\nUse the Retrieved Documents to answer the question: ${q}`,

  // mongodb/docs content/atlas/source/includes/ai-integrations/langchain/langchain-perform-qa.go
  'numbered documents in an indented template (Go)': (docs, q) =>
    `Answer the question from the following context:\n\t${docs.map((d, i) => `Document ${i + 1}: ${d.text}\n`).join('')}\n\tQuestion: ${q}`,

  // elastic/elasticsearch-labs example-apps/chatbot-rag-app/api/templates/rag_prompt.txt
  'names and passages between dashes (Jinja)': (docs, q) =>
    `Use these passages to answer the user's question. \nEach passage has a NAME, the title of the document. After your answer, leave a blank line and give the names of the passages you answered from, prefixed with SOURCES:.\n\nExample:\n\nQuestion: What is the meaning of life?\nResponse:\nIt is 42.\n\nSOURCES: A guide\n\nIf you don't know the answer, say so.\n\n----\n\n${docs
      .map((d) => `---\nNAME: ${d.title}\nPASSAGE:\n${d.text}\n---\n\n`)
      .join('')}----\nQuestion: ${q}\nResponse:`,

  // a-kuhn/panel-rag src/augment_prompt.py
  'teaching assistant, FAQ entries of three fields': (docs, q) =>
    `You're a course teaching assistant. Answer the user QUESTION from the CONTEXT - documents of our FAQ database.\nOnly use the facts of the CONTEXT. If it doesn't contain the answer, return "NONE"\n\nQUESTION: ${q}\n\nCONTEXT:\n${list(
      docs,
      (d) => `Section: ${d.file}\nQuestion: ${d.title}\nAnswer: ${d.text}`,
    )}`,

  // erseux/kth-qa kth_qa/magic/prompts.py
  'course descriptions, source below a dashed line': (docs, q) =>
    `\nYou are a study counselor of a university.\nGiven these extracted parts of course descriptions and a question, write a short final answer with references ("SOURCES"). \nIf you don't know the answer, say so.\nALWAYS return a "SOURCES" part.\n\nQUESTION: ${q}\n=========\n${list(
      docs,
      (d) => `>Course Description\n${d.text}\n----------\nSource: ${d.url}`,
    )}\n=========\nFINAL ANSWER:`,

  // YunHwa0905/legal-rag-chatbot ai/rag/retriever.py, ai/prompt/template.py
  'Korean law, number and kind above, source below': (docs, q) =>
    `[참고 내용]\n${list(docs, (d, n) => `[문서 ${n}] (민사법 - 법령)\n${d.text}\n출처: ${d.title}`)}\n\n[질문]\n${q}`,

  // THUDM/WebGLM model/modeling_webglm.py
  'references divided by backslashes': (docs, q) =>
    `${docs.map((d, i) => `Reference [${i + 1}]: ${d.text}\\`).join('')}Question: ${q}\\Answer: [gMASK]`,
}

const told: Readonly<Record<string, (documents: Documents) => string>> = {
  // leptonai/search_with_lepton search_with_lepton.py
  'web answers with double bracket citations': (docs) =>
    `\nYou are an AI assistant. You get a user question; write a clean and accurate answer to it. You get a set of contexts related to the question, each starting with a reference number like [[citation:x]], where x is a number. Use the context and cite it at the end of each sentence if applicable.\n\nLimit it to 1024 tokens. Cite the contexts with the reference numbers, in the format [citation:x].\n\nHere is the set of contexts:\n\n${list(
      docs,
      (d, n) => `[[citation:${n}]] ${d.text}`,
    )}\n\nDon't repeat the contexts verbatim. And here is the user question:\n`,

  // discourse/discourse-ai lib/personas/persona.rb
  'forum persona, guidance texts under headings (Ruby)': (docs) =>
    `You are a helpful Discourse assistant.\nYou answer in Markdown.<guidance>\nThe following texts give you additional guidance for your response.\nWe believe they are relevant to this conversation.\n\nTexts:\n\n${list(
      docs,
      (d) => `# ${d.title}\n${d.text}`,
      '\n',
    )}\n</guidance>`,

  // QwenLM/Qwen-Agent qwen_agent/agents/assistant.py
  'knowledge base, contents in fences': (docs) =>
    `You are a helpful assistant.\n\n# Knowledge Base\n\n${list(
      docs,
      (d) => `## The content from [文件](${d.file.split('/').pop()!}):\n\n\`\`\`\n${d.text}\n\`\`\``,
    )}`,

  // aws-samples/bedrock-chat backend/app/prompt.py
  'search results with rank after content': (docs) =>
    `To answer the user's question, you are given search results. Answer using only their information.\nIf they hold no answer, say that you could not find one.\n\nHere are the search results in numbered order:\n<search_results>\n${docs
      .map((d, i) => `<search_result>\n<content>\n${d.text}</content>\n<source>\n${i}\n</source>\n</search_result>`)
      .join(
        '',
      )}\n</search_results>\n\nDo NOT directly quote the <search_results> in your answer.\n\nIf you use a search result, cite it in the format [^<source_id>].\n\n<GOOD-example>\nfirst answer [^3]. second answer [^1][^2].\n</GOOD-example>\n`,

  // microsoft/chat-copilot webapi/Plugins/Chat/KernelMemoryRetriever.cs
  'document snippets with name, link and content marks (C#)': (docs) =>
    `This is a chat between an intelligent AI bot named Copilot and one or more participants.\n\nUser has also shared some document snippets.\nQuote the document link in square brackets after each sentence that refers to the snippet.\n${docs
      .map((d) => `Document name: ${d.file}\nDocument link: ${d.url}.\n[CONTENT START]\n${d.text}\n[CONTENT END]\n`)
      .join('')}`,

  // moneo/laravel-rag src/Pipeline/RagPipeline.php
  'sources from zero with files between rules (PHP)': (docs) =>
    `You are a helpful assistant. Answer the question from the provided context. If it does not suffice, say so.\n\nContext:\n${list(
      docs,
      (d, n) => `[Source ${n - 1}: ${d.file}]\n${d.text}`,
      '\n\n---\n\n',
    )}`,
}

const returned: Readonly<Record<string, readonly [tool: string, write: (documents: Documents) => string]>> = {
  // ggozad/haiku.rag haiku/rag/agents/qa/prompts.py
  'chunk ids with ranks': [
    'search_documents',
    (docs) =>
      list(
        docs,
        (d, n) => `[${d.id}] [rank ${n} of ${docs.length}]\nSource: "${d.title}"\nType: paragraph\nContent:\n${d.text}`,
      ),
  ],

  // mmozil/optimus src/skills/knowledge_tool.py
  'relevant chunks between result rules': [
    'search_knowledge_base',
    (docs) =>
      [
        `Found ${docs.length} relevant chunks:\n`,
        ...docs.flatMap((d, i) => [
          `--- Result ${i + 1} (Source: ${d.file}, Relevance: ${d.score.toFixed(2)}) ---`,
          d.text.replaceAll('\n', ' '),
          '',
        ]),
      ].join('\n'),
  ],

  // danny-avila/LibreChat api/app/clients/tools/util/fileSearch.js
  'file search with relevance and content fields': [
    'file_search',
    (docs) => list(docs, (d) => `File: ${d.file}\nRelevance: ${d.score.toFixed(4)}\nContent: ${d.text}\n`, '\n---\n'),
  ],

  // arc53/DocsGPT application/agents/tools/internal_search.py
  'internal search, number, file and source in one line': [
    'search',
    (docs) => list(docs, (d, n) => `[${n}] ${d.file} (source: ${d.url})\n${d.text}`, '\n\n---\n\n'),
  ],
}

const others: readonly Template[] = [
  {
    // fbondia/dream-analysis-assistant server/prompts/cognitive.js, context-builder.js
    name: 'Portuguese dream analysis, similar dreams in a message of their own',
    write: (docs, q) => [
      system(
        'Persona: ANALISTA COGNITIVO-AFETIVO. Foco: emoção, memória, regulação.\nEstrutura:\n1) Emoções predominantes\n2) Relações com sonhos similares',
      ),
      user(`SONHO: ${q}`),
      user(`SIMILARES:\n${list(docs, (d, n) => `— Similar #${n} (s/ data; id=${d.id}):\n${d.text}`)}`),
    ],
  },
]

export const chatApplicationsSecond: readonly Template[] = [...toTemplates({ asked, told, returned }), ...others]
